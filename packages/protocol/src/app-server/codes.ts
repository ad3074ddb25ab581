// Codes of refused requests. Free of the schema library.
export const rpcCodes = {
  /** Not a request, or not one for now: unknown method or thread, a member missing, before `initialize`. */
  invalidRequest: -32600,
  /** Known, but not in this program. */
  unsupported: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
} as const;
