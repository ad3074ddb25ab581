// What can go wrong on the way to an answer, and whether trying again can help.
import type { FaultCode, ModelFault, ModelReply } from "@agentcli/engine";

export interface Trouble {
  kind: "fault";
  fault: ModelFault;
  /** Which allowance of retries a further try uses up. */
  retry: "request" | "stream" | "never";
}

export type Attempt = Extract<ModelReply, { kind: "replied" }> | Trouble;

export function trouble(code: FaultCode, message: string, details: Omit<ModelFault, "code" | "message"> = {}): Trouble {
  const fault = { code, message, ...details };
  return { kind: "fault", fault, retry: retryOf(fault) };
}

/** The same trouble, where another try would end the same way. */
export const lasting = (trouble: Trouble): Trouble => ({ ...trouble, retry: "never" });

function retryOf(fault: ModelFault): Trouble["retry"] {
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

export const interrupted = (): Trouble => trouble("interrupted", "The request to the model was interrupted.");

/** Trouble that a server reports within its stream, by the code it gives. */
export function reportedTrouble(serverName: string, code: string, message: string): Trouble {
  const said = `${serverName} ended the answer with ${code || "an error"}: ${quote(message) || "no reason given."}`;
  if (isContextTrouble(code, message)) return trouble("context_window", said);
  if (code === "rate_limit_exceeded") return trouble("rate_limited", said, waitIn(message));
  if (code === "server_is_overloaded" || code === "slow_down") return trouble("overloaded", said);
  if (code === "insufficient_quota" || code === "invalid_prompt") return trouble("refused", said);
  return trouble("stream_cut", said, waitIn(message));
}

const contextMessage = /context[_ ](length|window)|prompt is too long|maximum context|too many (input )?tokens/i;

export const isContextTrouble = (code: string, message: string): boolean =>
  code === "context_length_exceeded" || (code !== "rate_limit_exceeded" && contextMessage.test(message));

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

/** The wait a server asks for in words: "try again in 1.5s". */
export function waitIn(message: string): { retryAfterMs?: number } {
  const [, amount, unit = ""] = /try again in (\d+(?:\.\d+)?)\s*(ms|s|m)/i.exec(message) ?? [];
  if (amount === undefined) return {};
  return { retryAfterMs: Math.ceil(Number(amount) * (unitMs[unit.toLowerCase()] ?? 1000)) };
}

const longestQuote = 500;

/** What a server said, at bounded length and as a whole sentence. */
export function quote(message: string): string {
  const words = message.trim();
  if (words.length > longestQuote) return `${words.slice(0, longestQuote)}…`;
  return words === "" || /[.!?…]$/.test(words) ? words : `${words}.`;
}
