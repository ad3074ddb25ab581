// A process in a machine that is reached over one byte stream: its streams, its setup, its bridge and its end.
export { type CarriedCommand, carryProcess, serveProcess } from "./process.ts";
