// The stream of a run: frames from records and from replies in progress.

export { type FrameWriter, openFrameWriter } from "./frame-writer.ts";
export type { FrameGroup } from "./frames.ts";
export { type Frame, isDetail, numberFrames } from "./numbered.ts";
export { type RunStream, runStream } from "./run-stream.ts";
