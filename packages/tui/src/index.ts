// The terminal interface: `agentcli` passes in the connection to an app server, the terminal and what to open.
export { listThreads, runTui, type Start, type TuiOptions } from "./app/index.ts";
export { type Connect, connectTo, type Link, type ThreadOverrides } from "./client/index.ts";
