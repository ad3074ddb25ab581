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

type Stored = Map<string, ReturnType<typeof newKey>>;

interface State {
  stored: Stored;
  access: { token: string; namespace: string };
  mount: string;
}

const refusal = (status: number, ...errors: string[]): Answer => ({ status, body: { errors } });

function perform({ request, body }: Exchange, { stored, access, mount }: State): Answer {
  const { headers, url = "" } = request;
  if (headers["x-vault-token"] !== access.token || headers["x-vault-namespace"] !== access.namespace)
    return refusal(403, "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n");
  const [, operation, name = ""] = /^\/v1\/(.+)\/([^/]+)$/.exec(url)?.[1]?.startsWith(`${mount}/`)
    ? (/^\/v1\/.+\/(encrypt|decrypt|rewrap)\/([^/]+)$/.exec(url) ?? [])
    : [];
  if (operation === undefined || request.method !== "POST") return refusal(404, `no handler for route "${url}"`);
  const key = stored.get(decodeURIComponent(name));
  if (key === undefined) return refusal(400, "encryption key not found");
  const asked = JSON.parse(body.toString()) as { plaintext?: string; ciphertext?: string };
  const encrypted = (text: Buffer): Answer => ({
    status: 200,
    body: { data: { ciphertext: `vault:v${key.newest()}:${key.encrypt(text, "").toString("base64")}` } },
  });
  if (operation === "encrypt") return encrypted(Buffer.from(String(asked.plaintext), "base64"));
  const [, version, sealed] = /^vault:v(\d+):(.+)$/.exec(String(asked.ciphertext)) ?? [];
  if (version === undefined || sealed === undefined) return refusal(400, "invalid ciphertext: no prefix");
  const text = key.decrypt(Buffer.from(sealed, "base64"), "", Number(version));
  if (text === null) return refusal(400, "cipher: message authentication failed");
  return operation === "rewrap"
    ? encrypted(text)
    : { status: 200, body: { data: { plaintext: text.toString("base64") } } };
}
