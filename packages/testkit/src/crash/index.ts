// Processes that are killed at a chosen write: programs to preload with `node --require`, and a store in memory.
import { fileURLToPath } from "node:url";

/** At the n-th write to a session file. */
export const killAtWrite = fileURLToPath(new URL("kill-at-write.cjs", import.meta.url));

/** At the n-th statement that changes a PostgreSQL database. */
export const killAtQuery = fileURLToPath(new URL("kill-at-query.cjs", import.meta.url));
export * from "./killed-store.ts";
