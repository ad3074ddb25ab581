// What other packages and tests may use of the platform.
export type { Tables } from "./db/tables.ts";
