// The database of the platform.
import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";

export type { Listener, Notifications } from "./notifications.ts";
export type * from "./tables.ts";

/** Queries, in or outside of a transaction. */
export type Queries = Kysely<Tables> | Transaction<Tables>;
