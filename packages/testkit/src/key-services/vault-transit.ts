// A scripted Vault with a transit engine: encrypt, decrypt and rewrap, for one token and one namespace.
import { type Answer, type Exchange, type FakeKeyService, newKey, startKeyService } from "./server.ts";

export interface FakeVault extends FakeKeyService {
  token: string;
  mount: string;
  namespace: string;
  /** The name of its key. */
  key: string;
  /** Of one more key. */
  otherKey: string;
  /** Another token is accepted from now on. */
  setToken(token: string): void;
}

export async function startFakeVault(): Promise<FakeVault> {
  const engine = { mount: "engines/transit", namespace: "team-a", key: "platform", otherKey: "other" };
  const access = { token: "hvs.first", namespace: engine.namespace };
  const stored: Stored = new Map([engine.key, engine.otherKey].map((name) => [name, newKey()]));
  const service = await startKeyService({
    operationOf: ({ request }) => request.url?.split("/").at(-2) ?? "",
    answer: (exchange) => perform(exchange, { stored, access, mount: engine.mount }),
    failures: {
      throttled: refusal(429, 'request path "encrypt": rate limit quota exceeded'),
      denied: refusal(403, "permission denied"),
      broken: refusal(503, "Vault is sealed"),
    },
    rotate: () => stored.get(engine.key)?.rotate(),
    retire: () => stored.get(engine.key)?.retire(),
  });
  return {
    ...service,
    ...engine,
    token: access.token,
    setToken(token) {
      access.token = token;
    },
  };
}

type Stored = Map<string, Key>;

interface State {
  stored: Stored;
  access: { token: string; namespace: string };
  mount: string;
}

const refusal = (status: number, ...errors: string[]): Answer => ({ status, body: { errors } });

/** What the token may do, by its policy, is not more: whether there are other keys and paths is not told. */
const notAllowed = refusal(403, "1 error occurred:\n\t* permission denied\n\n");

function perform({ request, body }: Exchange, { stored, access, mount }: State): Answer {
  const { headers, url = "" } = request;
  const { "x-vault-token": token = "", "x-vault-namespace": namespace } = headers;
  if (token === "") return refusal(403, "permission denied");
  if (token !== access.token || namespace !== access.namespace)
    return refusal(403, "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n");
  const [, engine, operation, name = ""] = /^\/v1\/(.+)\/(encrypt|decrypt|rewrap)\/([^/]+)$/.exec(url) ?? [];
  const key = stored.get(decodeURIComponent(name));
  if (engine !== mount || key === undefined || request.method !== "POST") return notAllowed;
  const asked = JSON.parse(body.toString()) as { plaintext?: string; ciphertext?: string };
  if (operation === "encrypt") return encrypted(key, Buffer.from(String(asked.plaintext), "base64"));
  const found = open(key, String(asked.ciphertext));
  if (found.kind === "refused") return refusal(400, found.error);
  if (operation === "rewrap") return encrypted(key, found.text);
  return { status: 200, body: { data: { plaintext: found.text.toString("base64") } } };
}

function encrypted(key: Key, text: Buffer): Answer {
  const ciphertext = `vault:v${key.newest()}:${key.encrypt(text, "").toString("base64")}`;
  return { status: 200, body: { data: { ciphertext, key_version: key.newest() } } };
}

type Key = ReturnType<typeof newKey>;
type Opened = { kind: "refused"; error: string } | { kind: "opened"; text: Buffer };

/** With the checks of Vault, in their order. */
function open(key: Key, ciphertext: string): Opened {
  const refused = (error: string): Opened => ({ kind: "refused", error });
  if (ciphertext === "") return refused("missing ciphertext to decrypt");
  const [, rest] = /^vault:v(.*)$/.exec(ciphertext) ?? [];
  if (rest === undefined) return refused("invalid ciphertext: no prefix");
  const [, written, encoded] = /^([^:]*):(.*)$/.exec(rest) ?? [];
  if (written === undefined || encoded === undefined) return refused("invalid ciphertext: wrong number of fields");
  if (!/^\d+$/.test(written)) return refused("invalid ciphertext: version number could not be decoded");
  const version = Number(written);
  if (version > key.newest()) return refused("invalid ciphertext: version is too new");
  if (key.isRetired(version)) return refused("ciphertext or signature version is disallowed by policy (too old)");
  const sealed = Buffer.from(encoded, "base64");
  if (sealed.toString("base64") !== encoded) return refused("invalid ciphertext: could not decode base64");
  if (sealed.length < nonceBytes) return refused("invalid ciphertext length");
  const text = key.decrypt(sealed, "", version);
  return text === null ? refused("cipher: message authentication failed") : { kind: "opened", text };
}

const nonceBytes = 12;
