// What a server says about itself.
export { type Facts, type Log, type LogOptions, openLog, silentLog } from "./log.ts";
export type { Labels, Metrics } from "./metrics.ts";
