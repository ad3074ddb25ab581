// What a server says about itself.
export type { Facts, Log } from "./log.ts";
export type { Labels, Metrics } from "./metrics.ts";
