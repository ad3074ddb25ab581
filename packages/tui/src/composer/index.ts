// The message being written.
export { type Buffer, emptyBuffer, insert, insertPaste, isEmpty, wholeText } from "./buffer.ts";
export { edit } from "./edit.ts";
export { composerRows } from "./view.ts";
