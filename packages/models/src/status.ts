// Failures from HTTP statuses.
import type { IncomingHttpHeaders } from "node:http";
import {
  type AttemptFailure,
  failAttempt,
  isContextOverflow,
  quotaCodes,
  quote,
  retryDelayIn,
  withoutRetry,
} from "./failure.ts";
import type { Provider } from "./provider.ts";
import { fields, parseJson, text } from "./untrusted.ts";

export interface StatusResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export function statusFailure(provider: Provider & { model: string }, answer: StatusResponse): AttemptFailure {
  const { status } = answer;
  const { code, message } = errorIn(answer.body);
  const summary = `${provider.name} answered HTTP ${status}${message ? `: ${quote(message)}` : "."}`;
  // From the inference API of a platform; the key is still valid.
  if (code === "spend_limit_reached") return failAttempt("refused", summary, { status, quota: true });
  if (status === 401 || status === 403) return failAttempt("auth", `${summary} ${keyAdvice(provider)}`, { status });
  if (status === 429) {
    const limited = failAttempt("rate_limited", summary, {
      status,
      ...retryAfter(answer.headers),
      ...retryDelayIn(message),
    });
    return quotaCodes.includes(code) ? withoutRetry(limited) : limited;
  }
  if (status >= 500 || status === 408)
    return failAttempt("overloaded", summary, { status, ...retryAfter(answer.headers) });
  if (isContextOverflow(code, message)) return failAttempt("context_window", summary, { status });
  if (status === 402 || isUsedUp(code, message)) return failAttempt("refused", summary, { status, quota: true });
  if (isUnknownModel(code, message, status))
    return failAttempt("refused", `${summary} ${modelAdvice(provider)}`, { status });
  return failAttempt("refused", `${summary} ${addressAdvice(provider, answer)}`.trimEnd(), { status });
}

/** Not with 429 in every case: Anthropic answers 400, DeepSeek and OpenRouter 402. */
const isUsedUp = (code: string, message: string): boolean =>
  quotaCodes.includes(code) || /credit balance is too low|insufficient (balance|credits|quota|funds)/i.test(message);

function keyAdvice(provider: Provider): string {
  const state = provider.apiKey === undefined ? "No API key is set for it." : "The API key was refused.";
  if (provider.keyVariable) return `${state} Set ${provider.keyVariable} to a valid one.`;
  return `${state} Set one with \`agentcli login --with-api-key\`, AGENT_API_KEY, or env_key of model_providers.${provider.id}.`;
}

/** Providers say it with a code of their own, or in a sentence. */
const isUnknownModel = (code: string, message: string, status: number): boolean =>
  code === "model_not_found" ||
  (status === 404 && /\bmodel\b/i.test(message)) ||
  /\bmodel\b.{0,80}\b(not found|not exist|not a valid|not supported|unknown)|(unknown|invalid|no such) model/is.test(
    message,
  );

const modelAdvice = ({ name, model, modelHint }: Provider & { model: string }): string =>
  `${name} does not offer the model ${model} to this key: check its name.${modelHint?.() ?? ""}`;

function addressAdvice(provider: Provider, { status, headers }: StatusResponse): string {
  if (status < 400) return `It redirects to ${headers.location ?? "no location"}: correct base_url of ${provider.id}.`;
  if (status !== 404) return "";
  return `Check the model name, and base_url (${provider.baseUrl}) of ${provider.id}.${provider.modelHint?.() ?? ""}`;
}

function errorIn(body: string): { code: string; message: string } {
  const answer = parseJson(body);
  if (answer === undefined) return { code: "", message: body.trim() };
  const object = fields(answer);
  const error = fields(object.error);
  const message =
    text(error.message) ?? text(object.error) ?? text(object.message) ?? text(object.detail) ?? body.trim();
  return { code: text(error.code) ?? text(error.type) ?? "", message };
}

function retryAfter(headers: IncomingHttpHeaders): { retryAfterMs?: number } {
  const exact = headers["retry-after-ms"];
  if (typeof exact === "string" && Number(exact) >= 0) return { retryAfterMs: Math.ceil(Number(exact)) };
  const header = headers["retry-after"];
  if (header === undefined) return {};
  if (Number(header) >= 0) return { retryAfterMs: Math.ceil(Number(header) * 1000) };
  // Both dates come from the server, so a wrong clock does not matter.
  const waitMs = Date.parse(header) - Date.parse(headers.date ?? "");
  return Number.isFinite(waitMs) ? { retryAfterMs: Math.max(0, waitMs) } : {};
}
