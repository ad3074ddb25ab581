// What other packages and tests may use of the platform.
export type { Settings } from "./foundation/config/index.ts";
export type { PlatformContext } from "./foundation/context.ts";
export type { Tables } from "./foundation/db/index.ts";
