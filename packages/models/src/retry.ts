// Retries failures that may pass, with growing delays, and reports every retry.
import type { ModelProgress, ModelReply } from "@agentcli/engine";
import { type Attempt, type AttemptFailure, interrupted, type RepliedAttempt } from "./failure.ts";

type FaultReply = Extract<ModelReply, { kind: "fault" }>;

export interface RetryPlan {
  requestMaxRetries: number;
  streamMaxRetries: number;
  retryBaseMs: number;
  /** Uniform in [0, 1). */
  random: () => number;
  /** Resolves after `ms`, or at once when the signal fires. Never throws. */
  delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

export async function withRetries(
  plan: RetryPlan,
  attempt: () => Promise<Attempt>,
  onProgress: (progress: ModelProgress) => void,
  signal: AbortSignal,
): Promise<RepliedAttempt | FaultReply> {
  const used = { request: 0, stream: 0 };
  const allowed = { request: plan.requestMaxRetries, stream: plan.streamMaxRetries };
  for (;;) {
    const outcome = await attempt();
    if (outcome.kind === "replied") return outcome;
    if (outcome.retry === "never") return { kind: "fault", fault: outcome.fault };
    const of = allowed[outcome.retry];
    if (used[outcome.retry] >= of) return gaveUp(outcome, used.request + used.stream);
    const number = ++used[outcome.retry];
    const delayMs = delayBefore(number, outcome, plan);
    if (delayMs > maxDelayMs) return { kind: "fault", fault: outcome.fault };
    const { fault } = outcome;
    onProgress({ type: "retrying", attempt: number, of, delayMs, reason: fault.message, fault });
    await plan.delay(delayMs, signal);
    if (signal.aborted) return { kind: "fault", fault: interrupted().fault };
  }
}

export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", settle);
      resolve();
    };
    const timer = setTimeout(settle, ms);
    signal.addEventListener("abort", settle);
  });
}

/** No retry if the server asks for a longer delay: the user decides. */
const maxDelayMs = 60_000;

function delayBefore(number: number, { fault }: AttemptFailure, plan: RetryPlan): number {
  if (fault.retryAfterMs) return fault.retryAfterMs;
  const backoffMs = Math.min(plan.retryBaseMs * 2 ** (number - 1), maxDelayMs / 1.1);
  return Math.round(backoffMs * (0.9 + 0.2 * plan.random()));
}

function gaveUp({ fault }: AttemptFailure, retries: number): FaultReply {
  const message = retries > 0 ? `${fault.message} Gave up after ${retries} ${plural(retries)}.` : fault.message;
  return { kind: "fault", fault: { ...fault, message } };
}

const plural = (retries: number): string => (retries === 1 ? "retry" : "retries");
