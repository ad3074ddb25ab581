// Error codes of runs, and the exit code of each.
import { z } from "zod";

export const ErrorCode = z.enum([
  "auth",
  "rate_limited",
  "overloaded",
  "network",
  "stream_cut",
  "protocol",
  "context_window",
  "budget",
  "limit",
  "sandbox",
  "mcp",
  "hook",
  "schema",
  "empty",
  "no_progress",
  "interrupted",
  "refused",
  "internal",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;
