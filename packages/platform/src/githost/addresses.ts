// Every address that this platform was ever served at. A repository keeps its address in an agent that is older than the
// last start, and servers that share a database know each other's.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";

export interface Addresses {
  /** Where this server is reached by people. */
  shown(): string;
  /** What follows `/git/` in an address of ours; undefined in one that is not known to be ours. */
  pathOf(url: string): string | undefined;
  /** Writes down where this server is, and reads where all of them are and were. */
  announce(): Promise<void>;
  learn(): Promise<void>;
}

/** `own` is where this server is; the first is shown. */
export function openAddresses(db: Kysely<Tables>, own: () => [string, ...string[]]): Addresses {
  const known = new Set<string>();
  const learn = async (): Promise<void> => {
    for (const { url } of await db.selectFrom("server_addresses").select("url").execute()) known.add(url);
  };
  return {
    shown: () => own()[0],
    pathOf(url) {
      const [, base = "", path] = /^(.+)\/git\/([^/]+(?:\/pulls\/\d+)?)\/*$/.exec(url) ?? [];
      const server = plain(base);
      return known.has(server) || own().map(plain).includes(server) ? path : undefined;
    },
    async announce() {
      const rows = [...new Set(own().map(plain))].map((url) => ({ url }));
      await db
        .insertInto("server_addresses")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await learn();
    },
    learn,
  };
}

/** Names of this machine for itself count as one. */
const plain = (base: string): string =>
  base.toLowerCase().replace(/^(https?:\/\/)(?:localhost|\[::1\]|0\.0\.0\.0|\[::\])(?=[:/]|$)/, "$1127.0.0.1");
