// Errors that a caller sees when a model call fails. Address and response of the provider are not revealed.
import type { FaultCode, ModelFault } from "@agentcli/engine";
import { ApiError } from "../foundation/index.ts";

export function toApiError({ code, retryAfterMs }: ModelFault, model: string): ApiError {
  const message = messages[code](model);
  const extra = retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1_000)) };
  if (code === "rate_limited") return new ApiError("rate_limited", message, extra);
  if (code === "context_window" || code === "refused") return new ApiError("validation_error", message);
  return new ApiError("unavailable", message, extra);
}

/** For a stream that has already begun: the codes of the Responses wire. */
export const toStreamError = ({ code }: ModelFault, model: string): { code: string; message: string } => ({
  code: wireCodes[code] ?? "server_error",
  message: messages[code](model),
});

/** Nothing was used: the provider rejected the request. */
export const isRejected = ({ code }: ModelFault): boolean => rejectedCodes.includes(code);

const rejectedCodes: FaultCode[] = ["auth", "rate_limited", "overloaded", "network", "context_window", "refused"];

const wireCodes: Partial<Record<FaultCode, string>> = {
  context_window: "context_length_exceeded",
  rate_limited: "rate_limit_exceeded",
  overloaded: "server_is_overloaded",
  refused: "invalid_prompt",
};

const messages: Record<FaultCode, (model: string) => string> = {
  auth: (model) => `The provider of ${model} rejects the platform's key; ask an administrator to correct it.`,
  rate_limited: (model) => `The provider of ${model} is rate limiting requests; try again later.`,
  overloaded: (model) => `The provider of ${model} is overloaded; try again later.`,
  network: (model) => `The provider of ${model} cannot be reached; try again later.`,
  stream_cut: (model) => `The reply of ${model} was cut off; try again.`,
  protocol: (model) => `The provider of ${model} sent an invalid response; try again.`,
  context_window: (model) => `input: is longer than the context window of ${model}; shorten it.`,
  refused: (model) => `The provider of ${model} rejects this request; check its parameters and input.`,
  limit: (model) => `The provider of ${model} stopped responding; try again.`,
  interrupted: (model) => `The request to ${model} was interrupted; try again.`,
};
