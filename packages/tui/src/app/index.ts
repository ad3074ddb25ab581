// The program on the terminal.
export { runTui } from "./run.ts";
export { listThreads } from "./list-threads.ts";
export type { Start, TuiOptions } from "./state.ts";
