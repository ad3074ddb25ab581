// Every address this platform was ever served at. Agents created before the last start still use older addresses, and servers
// that share a database recognize each other's addresses.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";

export interface Addresses {
  /** The address of this server that is shown to users. */
  shown(): string;
  /** The part after `/git/` of an address of this platform; undefined for other addresses. */
  pathOf(url: string): string | undefined;
  /** Records the addresses of this server and loads those of all servers. */
  announce(): Promise<void>;
  /** Loads the addresses that other servers recorded. */
  refresh(): Promise<void>;
}

/** `own` returns the addresses of this server; the first one is shown to users. */
export function openAddresses(db: Kysely<Tables>, own: () => [string, ...string[]]): Addresses {
  const known = new Set<string>();
  const refresh = async (): Promise<void> => {
    for (const { url } of await db.selectFrom("server_addresses").select("url").execute()) known.add(url);
  };
  return {
    shown: () => own()[0],
    pathOf(url) {
      const [, base = "", path] = /^(.+)\/git\/([^/]+(?:\/pulls\/\d+)?)\/*$/.exec(url) ?? [];
      const server = normalize(base);
      return known.has(server) || own().map(normalize).includes(server) ? path : undefined;
    },
    async announce() {
      const rows = [...new Set(own().map(normalize))].map((url) => ({ url }));
      await db
        .insertInto("server_addresses")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await refresh();
    },
    refresh,
  };
}

/** Treats all loopback and wildcard names as the same host. */
const normalize = (base: string): string =>
  base.toLowerCase().replace(/^(https?:\/\/)(?:localhost|\[::1\]|0\.0\.0\.0|\[::\])(?=[:/]|$)/, "$1127.0.0.1");
