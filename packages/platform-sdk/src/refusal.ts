// An answer other than a success, as the matching error.
import {
  AgentBusyError,
  AgentNotFoundError,
  AuthenticationError,
  ConfigurationError,
  type ErrorFacts,
  IntegrationNotConnectedError,
  NetworkError,
  type PlatformAgentError,
  RateLimitError,
  UnknownAgentError,
} from "./errors.ts";

export interface Refusal {
  status: number;
  body: string;
  retryAfter: string | undefined;
  requestId: string | undefined;
  endpoint: string;
  operation: string;
}

export function errorFrom({ status, body, retryAfter, ...rest }: Refusal): PlatformAgentError {
  const { code, message, helpUrl, provider } = readProblem(body);
  const text = message ?? `${rest.endpoint} returned HTTP ${status}.`;
  const facts: ErrorFacts = { ...rest, status, code: code ?? "unknown" };
  const explained = code ? `[${code}] ${text}` : text;
  if (code === "agent_busy") return new AgentBusyError(explained, facts);
  if (code === "integration_not_connected" && helpUrl && provider)
    return new IntegrationNotConnectedError(explained, { ...facts, helpUrl, provider });
  if (status === 401) return new AuthenticationError(text, facts);
  if (status === 429) return new RateLimitError(text, { ...facts, isRetryable: true, ...waitOf(retryAfter) });
  if (code === "agent_not_found") return new AgentNotFoundError(explained, facts);
  if (status === 400 || status === 404 || status === 409) return new ConfigurationError(explained, facts);
  if (status >= 500) return new NetworkError(explained, { ...facts, isRetryable: true });
  return new UnknownAgentError(explained, facts);
}

interface Problem {
  code?: string;
  message?: string;
  helpUrl?: string;
  provider?: string;
}

/** Takes `{error: {code, message}}`, a flat `{code, message}`, and the `{error: "Reason", message}` of proxies. */
function readProblem(text: string): Problem {
  const body = fieldsOf(parsed(text));
  const inner = fieldsOf(body.error);
  const { code, message, helpUrl, provider } = { ...body, ...inner };
  return {
    ...(typeof code === "string" && { code }),
    ...(typeof message === "string" && message !== "" && { message }),
    ...(typeof helpUrl === "string" && { helpUrl }),
    ...(typeof provider === "string" && { provider }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function waitOf(retryAfter: string | undefined): { retryAfterMs?: number } {
  const seconds = Number(retryAfter);
  return retryAfter && Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {};
}
