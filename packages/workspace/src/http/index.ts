// What every HTTP server and proxy of ours has to add to Node's own.
export { inTurn, isAnswering } from "./in-turn.ts";
export { limitInterim } from "./interim.ts";
export { readStatusLine, type StatusLine } from "./status-line.ts";
