// The key-encryption key in the transit engine of HashiCorp Vault or OpenBao. The purpose is the first byte of what is
// encrypted: the engine encrypts again (rewrap) without associated data only.
import { readFileSync } from "node:fs";
import { Unsealable } from "./cipher.ts";
import {
  type Attempt,
  askKeyService,
  defaultRetry,
  type KeyService,
  KeyServiceFault,
  memberOf,
  type Purpose,
  type RetryOptions,
  readJson,
} from "./key-service.ts";

export interface VaultTransitOptions {
  /** The name of the key. */
  key: string;
  /** Where the engine is mounted. */
  mount: string;
  /** Null: the root. */
  namespace: string | null;
  /** Without a slash at its end. */
  endpoint: string;
  /** Read for each request: an agent of Vault renews it. */
  token(): string;
  retry?: RetryOptions;
}

export function openVaultTransit(options: VaultTransitOptions): KeyService {
  const { key, mount, namespace, endpoint, token, retry = defaultRetry } = options;
  const description = `the key ${mount}/keys/${key} of Vault`;
  const ask = (operation: string, body: object): Promise<unknown> =>
    askKeyService(description, retry, async (signal) => {
      const headers = {
        ...{ "content-type": "application/json", "x-vault-request": "true", "x-vault-token": token() },
        ...(namespace !== null && { "x-vault-namespace": namespace }),
      };
      const url = `${endpoint}/v1/${mount}/${operation}/${encodeURIComponent(key)}`;
      const request = { method: "POST", headers, body: JSON.stringify(body), signal, redirect: "error" as const };
      const response = await fetch(url, request);
      return readAnswer(response.status, await response.text(), description);
    });
  const textIn = (body: unknown, name: string): string => memberIn(body, name, description);
  return {
    description,
    identity: `vault-transit ${JSON.stringify([namespace, mount, key])}`,
    async encrypt(text, purpose) {
      const plaintext = Buffer.concat([Buffer.of(marks[purpose]), text]).toString("base64");
      return Buffer.from(textIn(await ask("encrypt", { plaintext }), "ciphertext"));
    },
    async decrypt(encrypted, purpose) {
      const body = await ask("decrypt", { ciphertext: encrypted.toString("utf8") });
      const text = Buffer.from(textIn(body, "plaintext"), "base64");
      if (text[0] !== marks[purpose]) throw new Unsealable(`encrypted for something else than as ${purpose}`);
      return text.subarray(1);
    },
    async rewrap(encrypted) {
      return Buffer.from(textIn(await ask("rewrap", { ciphertext: encrypted.toString("utf8") }), "ciphertext"));
    },
  };
}

/** Throws KeyServiceFault where the file cannot be read. */
export function readTokenFile(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new KeyServiceFault("denied", `the token file ${path} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

const marks: Record<Purpose, number> = { "data key": 1, "authentication key": 2 };

const isForeign = /(?:invalid|missing) ciphertext|message authentication failed|disallowed by policy|no prefix|base64/i;

/** 400 is for what was sent, 503 for a server that is sealed, in standby or in maintenance. */
function readAnswer(status: number, text: string, description: string): Attempt {
  const body = readJson(text);
  if (status === 200) return { kind: "answered", body };
  const what = `${status} ${errorsIn(body)}`.trimEnd();
  if (status === 429) return { kind: "busy", reason: "throttled", what };
  if (status >= 500 || status === 412) return { kind: "busy", reason: "failed", what };
  if (status === 400 && isForeign.test(what))
    throw new Unsealable(`changed since it was encrypted, or encrypted with another key than ${description}`);
  if (status === 403)
    throw new KeyServiceFault(
      "denied",
      `${description} refused: ${what}. Check the token, and that its policy allows update on encrypt, decrypt and rewrap.`,
    );
  throw new KeyServiceFault("failed", `${description} refused: ${what}. Check kms.endpoint, kms.mount and kms.key.`);
}

function errorsIn(body: unknown): string {
  const errors = memberOf(body, "errors");
  return Array.isArray(errors) ? errors.join("; ").slice(0, 200) : "";
}

function memberIn(body: unknown, name: string, description: string): string {
  const value = memberOf(memberOf(body, "data"), name);
  if (typeof value === "string" && value !== "") return value;
  throw new KeyServiceFault("failed", `${description} answered without ${name}. Check kms.endpoint.`);
}
