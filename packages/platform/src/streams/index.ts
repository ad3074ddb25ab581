// Streams of runs: stored frames, one source per run, many readers.
export { type Frame, numberFrames, openRecorder, type Recorder } from "@agentcli/engine";
export { encodeFrame, isLast } from "./frame.ts";
export { type Hub, openHub } from "./hub.ts";
export { addStreamRoute, type StreamHost, type StreamWish, streamRun } from "./routes.ts";
export { insertFrames, readFrames, tellReaders } from "./store.ts";
