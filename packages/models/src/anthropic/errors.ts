// Failures that a Messages stream reports, and reasons for which it stops early.
import type { Usage } from "@agentcli/protocol";
import {
  type AttemptFailure,
  failAttempt,
  isContextOverflow,
  quote,
  reportedFailure,
  withoutRetry,
} from "../failure.ts";
import { type Fields, fields, text } from "../untrusted.ts";

export function messagesFailure(serverName: string, error: Fields): AttemptFailure {
  const type = text(error.type) ?? "";
  const message = text(error.message) ?? "";
  const summary = `${serverName} ended the response with ${type}: ${quote(message) || "no reason given."}`;
  if (isContextOverflow("", message)) return failAttempt("context_window", summary);
  switch (type) {
    case "overloaded_error":
    case "timeout_error":
      return failAttempt("overloaded", summary);
    case "rate_limit_error":
      return reportedFailure(serverName, "rate_limit_exceeded", message);
    case "authentication_error":
    case "permission_error":
      return failAttempt("auth", summary);
    case "invalid_request_error":
    case "not_found_error":
    case "request_too_large":
      return failAttempt("refused", summary);
  }
  return reportedFailure(serverName, type, message);
}

/** Undefined for a reply that is complete. */
export function stopFailure(serverName: string, delta: Fields, usage: Usage): AttemptFailure | undefined {
  const reason = text(delta.stop_reason) ?? "";
  const message = `${serverName} stopped before the response was complete: ${reason}.`;
  switch (reason) {
    case "max_tokens":
      return withoutRetry(
        failAttempt("protocol", `${message} Allow more output tokens (max_output_tokens).`, {
          incomplete: "max_output_tokens",
          usage,
        }),
      );
    case "refusal": {
      const { category, explanation } = fields(delta.stop_details);
      const why = quote(text(explanation) ?? text(category) ?? "");
      return failAttempt("refused", `${serverName} declined to answer.${why && ` ${why}`}`, {
        incomplete: "content_filter",
        usage,
      });
    }
    case "model_context_window_exceeded":
      return failAttempt("context_window", message, { usage });
  }
  return undefined;
}
