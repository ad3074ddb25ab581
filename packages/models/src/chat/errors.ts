// Failures that a chat stream reports.
import type { Usage } from "@agentcli/protocol";
import { type AttemptFailure, failAttempt, reportedFailure, withoutRetry } from "../failure.ts";
import { fields, text } from "../untrusted.ts";

export function chatFailure(serverName: string, error: unknown): AttemptFailure {
  const { code, type, message } = fields(error);
  return reportedFailure(serverName, text(code) ?? text(type) ?? "", text(message) ?? text(error) ?? "");
}

export function finishFailure(
  serverName: string,
  reason: string | undefined,
  usage: Usage,
): AttemptFailure | undefined {
  const message = `${serverName} stopped before the response was complete: ${reason}.`;
  const advice = "Allow more output tokens (max_output_tokens).";
  if (reason === "length")
    return withoutRetry(
      failAttempt("protocol", `${message} ${advice}`, { incomplete: "max_output_tokens", ...usageIfCounted(usage) }),
    );
  return reason === "content_filter"
    ? failAttempt("refused", message, { incomplete: "content_filter", ...usageIfCounted(usage) })
    : undefined;
}

/** Servers that do not count tokens send no usage, which reads as zeros. */
const usageIfCounted = (usage: Usage): { usage?: Usage } =>
  usage.inputTokens + usage.outputTokens > 0 ? { usage } : {};
