// The program on the terminal.

export { listThreads } from "./list-threads.ts";
export { runTui } from "./run.ts";
export type { Start, TuiOptions } from "./state.ts";
