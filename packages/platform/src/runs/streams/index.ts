// Streams of runs: stored frames, one source per run, many readers.

export { type Frame, type FrameWriter, numberFrames, openFrameWriter } from "@agentcli/surfaces/run-stream";
export { encodeFrame, isLast } from "./frame.ts";
export { type Hub, openHub } from "./hub.ts";
export { notifyReaders, type OpenStreams, openOpenStreams, openStreamRetention } from "./open-streams.ts";
export { frameRetention } from "./retention.ts";
export { addStreamRoute, type StreamHost, type StreamRequest, streamRun } from "./routes.ts";
export { insertFrames, readFrames, readPrinted } from "./store.ts";
