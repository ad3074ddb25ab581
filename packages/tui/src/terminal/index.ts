// The terminal: keys that arrive, frames that leave.
export { type Input, type Key, openKeyReader } from "./keys.ts";
export { hasKeyProtocol, openTerminal, type Terminal, type TerminalStreams } from "./modes.ts";
export { type Output, openScreen, outputOf, type Screen } from "./screen.ts";
