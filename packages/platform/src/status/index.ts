// The state of the platform for operators: a route, and metrics of the disk.
export { openStatus } from "./open.ts";
