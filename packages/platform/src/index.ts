// What other packages and tests may use of the platform.
export type { Settings } from "./config/index.ts";
export type { Tables } from "./db/index.ts";
export type { Platform } from "./platform.ts";
