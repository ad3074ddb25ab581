// The key-encryption key of a service. Data keys that it unwrapped are kept for a while: a server that opens a list of agents
// would ask for each, and an interruption of the service would stop everything at once.
import { createHash } from "node:crypto";
import { authenticator } from "./authenticate.ts";
import type { KeyService } from "./key-service.ts";
import type { KeyEncryption } from "./vault.ts";

export interface ServiceKeyOptions {
  /** As it is stored. */
  authenticationKey: Buffer;
  /** How long a data key is used without asking for it again. */
  cacheMs: number;
  now(): number;
}

export const fingerprintOf = ({ identity }: KeyService): string =>
  createHash("sha256").update(identity).digest("hex").slice(0, 32);

export function serviceKey(service: KeyService, { authenticationKey, cacheMs, now }: ServiceKeyOptions): KeyEncryption {
  const dataKeys = openKeyCache(cacheMs, now);
  let ownKey: Promise<Buffer> | null = null;
  const readOwnKey = (): Promise<Buffer> => {
    ownKey ??= service.decrypt(authenticationKey, "authentication key").catch((error: unknown) => {
      ownKey = null;
      throw error;
    });
    return ownKey;
  };
  return {
    fingerprint: fingerprintOf(service),
    description: service.description,
    authenticationKey,
    async wrap(dataKey) {
      const wrapped = await service.encrypt(dataKey, "data key");
      dataKeys.keep(wrapped, dataKey);
      return wrapped;
    },
    unwrap: (wrapped) => dataKeys.find(wrapped, () => service.decrypt(wrapped, "data key")),
    authenticate: async (text, about) => authenticator(await readOwnKey())(text, about),
  };
}

/** Some megabytes. */
const maxCached = 10_000;

interface KeyCache {
  keep(wrapped: Buffer, key: Buffer): void;
  /** Callers at once share one request. What failed is not kept. */
  find(wrapped: Buffer, read: () => Promise<Buffer>): Promise<Buffer>;
}

function openKeyCache(cacheMs: number, now: () => number): KeyCache {
  const kept = new Map<string, { key: Promise<Buffer>; until: number }>();
  const add = (name: string, key: Promise<Buffer>): void => {
    // The oldest come first, as they expire.
    for (const [older, { until }] of kept) {
      if (until > now() && kept.size < maxCached) break;
      kept.delete(older);
    }
    kept.delete(name);
    kept.set(name, { key, until: now() + cacheMs });
  };
  return {
    keep: (wrapped, key) => add(wrapped.toString("base64"), Promise.resolve(key)),
    find(wrapped, read) {
      const name = wrapped.toString("base64");
      const found = kept.get(name);
      if (found !== undefined && found.until > now()) return found.key;
      const key = read();
      add(name, key);
      key.catch(() => {
        if (kept.get(name)?.key === key) kept.delete(name);
      });
      return key;
    },
  };
}
