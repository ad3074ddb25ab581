// The program on the terminal.
export { runTui } from "./app.ts";
export type { Start, ThreadOverrides, TuiOptions } from "./state.ts";
