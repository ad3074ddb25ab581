// Durations as the configuration has them.
export { durationMs, longestTimerMs } from "@agentcli/project";
