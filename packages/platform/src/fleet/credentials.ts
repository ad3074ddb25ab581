// Whether connected workers may stay: all of this server are looked at together, because a query for each would grow with them.
import type { Kysely } from "kysely";
import type { Tables } from "../foundation/index.ts";
import type { Principals } from "../identity/index.ts";
import { liveTokens } from "./tokens.ts";

export interface Credential {
  keyId: string;
  /** Of a claim, which ends before the key does; null: it connected with the key. */
  tokenId: string | null;
}

export interface Credentials {
  isValid(credential: Credential): Promise<boolean>;
  /** `end` is called once it is not valid any more. Returns how to stop. */
  watch(credential: Credential, end: () => void): () => void;
  close(): void;
}

/** How long a worker can stay connected after its key was revoked, while no run begins on it. */
const checkIntervalMs = 5_000;

const scope = "agents:write";

/** A worker gets files and secrets of agents: a revoked key, or a user who was removed, must not keep it connected. */
export function openCredentials({ db, principals }: { db: Kysely<Tables>; principals: Principals }): Credentials {
  const watched = new Set<{ credential: Credential; end: () => void }>();
  const findInvalid = async (some: Credential[]): Promise<Set<Credential>> => {
    const tokenIds = some.flatMap(({ tokenId }) => tokenId ?? []);
    const live = await liveTokens(db, [...new Set(tokenIds)]);
    const allowed = new Set<string>();
    for (const keyId of new Set(some.map((one) => one.keyId)))
      if ((await principals.find(keyId))?.scopes.includes(scope)) allowed.add(keyId);
    return new Set(
      some.filter(({ keyId, tokenId }) => !allowed.has(keyId) || (tokenId !== null && !live.has(tokenId))),
    );
  };
  const check = async (): Promise<void> => {
    const all = [...watched];
    const invalid = await findInvalid(all.map(({ credential }) => credential));
    for (const { credential, end } of all) if (invalid.has(credential)) end();
  };
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    isValid: async (credential) => (await findInvalid([credential])).size === 0,
    watch(credential, end) {
      const one = { credential, end };
      watched.add(one);
      // While the database does not answer, they stay: the next look decides. A program without workers has no timer.
      timer ??= setInterval(() => void check().catch(() => {}), checkIntervalMs);
      return () => {
        watched.delete(one);
        if (watched.size === 0) stop();
      };
    },
    close: stop,
  };
}
