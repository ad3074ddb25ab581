// What other programs show of a run that is under way: the same rows, drawn by the same screen.
export { openScreen } from "./terminal/index.ts";
export { colorDepth, openPainter } from "./text/index.ts";
export { progressRows } from "./transcript/index.ts";
