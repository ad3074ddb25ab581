// Log and metrics.
export { type Facts, type Log, type LogOptions, openLog, silentLog } from "./log.ts";
export { addProcessMetrics, type Duration, type Metrics, openMetrics } from "./metrics.ts";
