// Kinds of columns.
import type { ColumnType } from "kysely";

/** AES-256-GCM under the data key of the agent, or of the team, it belongs to. */
export type Sealed = Buffer;

export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type Stamped = ColumnType<Date, Date | string | undefined, Date | string>;
/** Null until there is one. */
export type Perhaps<T> = ColumnType<T | null, T | null | undefined, T | null>;
/** Read as a value, written as JSON text. */
export type Json<T> = ColumnType<T, string, string>;
