// What a caller is told when a model gives no answer. Where its provider is, and what it said, stays here.
import type { FaultCode, ModelFault } from "@agentcli/engine";
import { ApiProblem } from "../http/index.ts";

export function problemOf({ code, retryAfterMs }: ModelFault, model: string): ApiProblem {
  const message = sentences[code](model);
  const extra = retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1_000)) };
  if (code === "rate_limited") return new ApiProblem("rate_limited", message, extra);
  if (code === "context_window" || code === "refused") return new ApiProblem("validation_error", message);
  return new ApiProblem("unavailable", message, extra);
}

/** The same within a stream that has begun, in the codes of its wire. */
export const errorOf = ({ code }: ModelFault, model: string): { code: string; message: string } => ({
  code: wireCodes[code] ?? "server_error",
  message: sentences[code](model),
});

/** Nothing was used: the request was turned away. */
export const isTurnedAway = ({ code }: ModelFault): boolean => turnedAway.includes(code);

const turnedAway: FaultCode[] = ["auth", "rate_limited", "overloaded", "network", "context_window", "refused"];

const wireCodes: Partial<Record<FaultCode, string>> = {
  context_window: "context_length_exceeded",
  rate_limited: "rate_limit_exceeded",
  overloaded: "server_is_overloaded",
  refused: "invalid_prompt",
};

const sentences: Record<FaultCode, (model: string) => string> = {
  auth: (model) => `The provider of ${model} refuses the platform's key; ask an admin to correct it.`,
  rate_limited: (model) => `The provider of ${model} takes no more requests for now; try again later.`,
  overloaded: (model) => `The provider of ${model} is overloaded; try again later.`,
  network: (model) => `The provider of ${model} cannot be reached; try again later.`,
  stream_cut: (model) => `The answer of ${model} was cut off; try again.`,
  protocol: (model) => `The provider of ${model} answered with what is no answer; try again.`,
  context_window: (model) => `input: is longer than the context window of ${model}; shorten it.`,
  refused: (model) => `The provider of ${model} refuses this request; look at its parameters and its input.`,
  limit: (model) => `The provider of ${model} fell silent; try again.`,
  interrupted: (model) => `The request to ${model} was interrupted; try again.`,
};
