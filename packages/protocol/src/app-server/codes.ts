// Codes of refused requests. Free of the schema library.
export const rpcCodes = {
  /** Invalid request: unknown method or thread, a missing member, or sent before `initialize`. */
  invalidRequest: -32600,
  /** Known, but not supported by this program. */
  unsupported: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
} as const;
