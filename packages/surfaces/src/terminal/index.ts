// A run as a terminal shows it.
export { widthOf } from "./columns.ts";
export { type LiveProgress, type TerminalOptions, type TerminalSize, type TerminalView, terminalView } from "./view.ts";
