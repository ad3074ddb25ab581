// Why a turn failed, as errors of the app server.
import type { ErrorCode } from "@agentcli/protocol";
import type { ErrorInfo, TurnError } from "@agentcli/protocol/app-server";

/** Existing clients read `codexErrorInfo`; both have the same value. */
export const turnError = (message: string, code: ErrorCode): TurnError => ({
  message,
  errorInfo: infoOf[code],
  codexErrorInfo: infoOf[code],
});

const infoOf: Record<ErrorCode, ErrorInfo> = {
  auth: "unauthorized",
  rate_limited: "usageLimitExceeded",
  overloaded: "serverOverloaded",
  network: { httpConnectionFailed: {} },
  stream_cut: { responseStreamDisconnected: {} },
  protocol: { responseStreamDisconnected: {} },
  context_window: "contextWindowExceeded",
  budget: "sessionBudgetExceeded",
  limit: { responseStreamConnectionFailed: {} },
  sandbox: "sandboxError",
  mcp: "other",
  hook: "other",
  schema: "other",
  empty: "other",
  no_progress: "other",
  interrupted: "other",
  refused: "badRequest",
  internal: "internalServerError",
};
