// The terminal: keys that arrive, frames that leave.
export { type Display, openDisplay } from "./display.ts";
export { type Input, type Key, openKeyReader } from "./keys.ts";
export type { TerminalStreams } from "./modes.ts";
export { openScreen } from "./screen.ts";
export type { TerminalWriter } from "./writer.ts";
