// Failures that a Responses stream reports.
import type { Usage } from "@agentcli/protocol";
import { type AttemptFailure, failAttempt, reportedFailure, withoutRetry } from "../failure.ts";
import { type Fields, fields, text } from "../untrusted.ts";

export const responseFailure = (serverName: string, error: Fields): AttemptFailure =>
  reportedFailure(serverName, text(error.code) ?? text(error.type) ?? "", text(error.message) ?? "");

export function incompleteFailure(
  serverName: string,
  response: Fields,
  usageOf: (usage: Fields) => Usage,
): AttemptFailure {
  const reason = text(fields(response.incomplete_details).reason) ?? "no reason given";
  const message = `${serverName} stopped before the response was complete: ${reason}.`;
  const usage = response.usage ? { usage: usageOf(fields(response.usage)) } : {};
  if (reason === "max_output_tokens")
    return withoutRetry(
      failAttempt("protocol", `${message} Allow more output tokens.`, { incomplete: reason, ...usage }),
    );
  if (reason === "content_filter") return failAttempt("refused", message, { incomplete: reason, ...usage });
  return failAttempt("stream_cut", message, usage);
}
