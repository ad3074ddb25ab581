// The stream of a run: frames from records and from replies in progress.
export type { FrameGroup } from "./frames.ts";
export { type Frame, numberFrames } from "./numbered.ts";
export { openRecorder, type Recorder } from "./recorder.ts";
export { type RunStream, runStream } from "./run-stream.ts";
