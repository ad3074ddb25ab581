// The message being written.
export { type Buffer, emptyBuffer, insert, insertPaste, isEmpty, wholeText } from "./buffer.ts";
export { type DraftFile, draftBuffer, openDraft } from "./draft.ts";
export { edit } from "./edit.ts";
export { type History, openHistory } from "./history.ts";
export { composerRows } from "./view.ts";
export { leaveInsert, type VimState, vimKey } from "./vim.ts";
