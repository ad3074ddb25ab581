// What the agent does, as rows.
export type { ReadableItem } from "./archive.ts";
export { type Cell, changeRows, type Hunk, note, warning } from "./cells.ts";
export { progressRow, progressRows } from "./progress.ts";
export { openTranscript, type Transcript } from "./transcript.ts";
