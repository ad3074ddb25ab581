// The one table of exit codes. No zod here: every start of the program reads it.
import type { ErrorCode } from "./errors.ts";

export const exitCodes = {
  completed: { code: 0, when: "the turn completed" },
  failed: {
    code: 1,
    when: "the turn failed: a stream cut after retries, a refused request, the context window, cancelled",
  },
  usage: { code: 2, when: "wrong usage or configuration, an unknown session, a bad schema, a broken requirement" },
  auth: { code: 3, when: "no credentials, or the provider answered 401 or 403" },
  unavailable: { code: 4, when: "429, 5xx or no connection, after retries" },
  budget: { code: 5, when: "the budget is spent" },
  limit: { code: 6, when: "a named limit was reached" },
  sandbox: { code: 8, when: "the sandbox is not available here" },
  dependency: { code: 9, when: "a required MCP server or a managed hook failed" },
  schema: { code: 10, when: "the final message does not satisfy the output schema" },
  empty: { code: 11, when: "the model gave no final message" },
  noProgress: { code: 12, when: "the model made 20 calls in a row that were rejected or repeated" },
  hangup: { code: 129, when: "SIGHUP" },
  interrupt: { code: 130, when: "SIGINT" },
  readerGone: { code: 141, when: "the reader of standard output went away" },
  terminate: { code: 143, when: "SIGTERM" },
} as const;
export type ExitName = keyof typeof exitCodes;

export const exitOf: Record<ErrorCode, ExitName> = {
  auth: "auth",
  rate_limited: "unavailable",
  overloaded: "unavailable",
  network: "unavailable",
  stream_cut: "failed",
  protocol: "failed",
  context_window: "failed",
  budget: "budget",
  limit: "limit",
  sandbox: "sandbox",
  mcp: "dependency",
  hook: "dependency",
  schema: "schema",
  empty: "empty",
  no_progress: "noProgress",
  interrupted: "failed",
  refused: "failed",
  internal: "failed",
};
