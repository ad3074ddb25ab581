// One MCP server: JSON-RPC, initialization, what it offers, and restarts.

export { openConnection } from "./connection.ts";
export { entriesOf, readList } from "./lists.ts";
export { type CallResult, readCallResult, type ServerTool } from "./readers.ts";
export type { Fault, RpcRequest, RpcResponse } from "./rpc-client.ts";
export { openServer, type Server, type ServerReport } from "./server.ts";
