// Codes of refused requests. Free of the schema library.
export const rpcCodes = {
  /** Invalid request: an unknown thread, a missing member, or sent before `initialize`. */
  invalidRequest: -32600,
  /** Unknown, or known but not supported by this program. */
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
} as const;
