// Recorded runs: written with --record, read by `agentcli replay` and AGENT_REPLAY.
export { type Cassette, type CassetteHeader, type RecordedBatch, readCassette } from "./cassette.ts";
export { describeDifference, firstDifference } from "./difference.ts";
export { failingModel, openPlayer, type PlayerOptions } from "./player.ts";
export { openRecording, type Recording } from "./record.ts";
