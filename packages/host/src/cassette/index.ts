// Recorded runs: written with --record, read by `agentcli replay` and AGENT_REPLAY.
export { type Cassette, readCassette } from "./cassette.ts";
export { describeDifference, firstDifference } from "./difference.ts";
export type { CassetteHeader, RecordedBatch } from "./format.ts";
export { failingModel, openPlayer, type PlayerOptions } from "./player.ts";
export { type FileRecording, openRecording } from "./record.ts";
export { recordRun } from "./recorder.ts";
