// Streams of runs: stored frames, one source per run, many readers.
export { encodeFrame, type Frame, isLast, numberFrames } from "./frame.ts";
export { type Hub, openHub } from "./hub.ts";
export { openRecorder, type Recorder } from "./recorder.ts";
export { addStreamRoute, type StreamHost, type StreamWish, streamRun } from "./routes.ts";
export { insertFrames, readFrames, tellReaders } from "./store.ts";
