// Failures of an attempt, and whether a retry may help.
import type { FaultCode, ModelFault, ModelReply } from "@agentcli/engine";

export interface AttemptFailure {
  kind: "fault";
  fault: ModelFault;
  /** Which retry limit the next attempt counts against. */
  retry: "request" | "stream" | "never";
}

export type Attempt = RepliedAttempt | AttemptFailure;

export type RepliedAttempt = Extract<ModelReply, { kind: "replied" }> & {
  /** The server paused: the reply goes on if its content so far is sent back. */
  paused?: object[];
};

export function failAttempt(
  code: FaultCode,
  message: string,
  details: Omit<ModelFault, "code" | "message"> = {},
): AttemptFailure {
  const fault = { code, message, ...details };
  return { kind: "fault", fault, retry: retryOf(fault) };
}

/** The same failure, if a retry would fail the same way. */
export const withoutRetry = (failure: AttemptFailure): AttemptFailure => ({ ...failure, retry: "never" });

function retryOf(fault: ModelFault): AttemptFailure["retry"] {
  switch (fault.code) {
    case "network":
    case "overloaded":
    case "rate_limited":
      return "request";
    case "stream_cut":
    case "protocol":
      return "stream";
    case "limit":
      return fault.limit === "first-byte" ? "request" : "stream";
    case "auth":
    case "context_window":
    case "refused":
    case "interrupted":
      return "never";
  }
}

export const interrupted = (): AttemptFailure =>
  failAttempt("interrupted", "The request to the model was interrupted.");

/** A failure that the server reports in its stream, by its code. */
export function reportedFailure(serverName: string, code: string, message: string): AttemptFailure {
  const summary = `${serverName} ended the response with ${code || "an error"}: ${quote(message) || "no reason given."}`;
  if (isContextOverflow(code, message)) return failAttempt("context_window", summary);
  if (code === "rate_limit_exceeded") return failAttempt("rate_limited", summary, retryDelayIn(message));
  if (code === "server_is_overloaded" || code === "slow_down") return failAttempt("overloaded", summary);
  if (quotaCodes.includes(code)) return failAttempt("refused", summary, { quota: true });
  if (code === "invalid_prompt") return failAttempt("refused", summary);
  return failAttempt("stream_cut", summary, retryDelayIn(message));
}

/** What was paid for is used up: a retry fails the same way. */
export const quotaCodes = ["insufficient_quota", "usage_limit_reached", "billing_error"];

const contextMessage = /context[_ ](length|window)|prompt is too long|maximum context|too many (input )?tokens/i;

export const isContextOverflow = (code: string, message: string): boolean =>
  code === "context_length_exceeded" || (code !== "rate_limit_exceeded" && contextMessage.test(message));

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

/** The delay that a message asks for: "try again in 1.5s". */
export function retryDelayIn(message: string): { retryAfterMs?: number } {
  const [, amount, unit = ""] = /try again in (\d+(?:\.\d+)?)\s*(ms|s|m)/i.exec(message) ?? [];
  if (amount === undefined) return {};
  return { retryAfterMs: Math.ceil(Number(amount) * (unitMs[unit.toLowerCase()] ?? 1000)) };
}

const maxQuoteLength = 500;

/** The message of a server as a sentence of limited length. */
export function quote(message: string): string {
  const text = message.trim();
  if (text.length > maxQuoteLength) return `${text.slice(0, maxQuoteLength)}…`;
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}
