// An HTTP status other than success, as trouble.
import type { IncomingHttpHeaders } from "node:http";
import type { Provider } from "./provider.ts";
import { isContextTrouble, lasting, quote, type Trouble, trouble, waitIn } from "./trouble.ts";
import { fields, parseJson, text } from "./untrusted.ts";

export interface StatusAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export function statusTrouble(provider: Provider, answer: StatusAnswer): Trouble {
  const { status } = answer;
  const { code, message } = errorIn(answer.body);
  const said = `${provider.name} answered HTTP ${status}${message ? `: ${quote(message)}` : "."}`;
  // Of a platform that is asked for inference; its key is as good as before.
  if (code === "spend_limit_reached") return trouble("refused", said, { status });
  if (status === 401 || status === 403) return trouble("auth", `${said} ${keyAdvice(provider)}`, { status });
  if (status === 429) {
    const limited = trouble("rate_limited", said, { status, ...retryAfter(answer.headers), ...waitIn(message) });
    return code === "insufficient_quota" || code === "usage_limit_reached" ? lasting(limited) : limited;
  }
  if (status >= 500 || status === 408) return trouble("overloaded", said, { status, ...retryAfter(answer.headers) });
  if (isContextTrouble(code, message)) return trouble("context_window", said, { status });
  return trouble("refused", `${said} ${addressAdvice(provider, answer)}`.trimEnd(), { status });
}

function keyAdvice(provider: Provider): string {
  const state = provider.apiKey === undefined ? "No API key is set for it." : "The API key was refused.";
  return `${state} Set one with \`agentcli login --with-api-key\`, AGENT_API_KEY, or env_key of model_providers.${provider.id}.`;
}

function addressAdvice(provider: Provider, { status, headers }: StatusAnswer): string {
  if (status < 400) return `It points to ${headers.location ?? "no other place"}: correct base_url of ${provider.id}.`;
  return status === 404 ? `Check the model name, and base_url (${provider.baseUrl}) of ${provider.id}.` : "";
}

function errorIn(body: string): { code: string; message: string } {
  const answer = parseJson(body);
  if (answer === undefined) return { code: "", message: body.trim() };
  const whole = fields(answer);
  const error = fields(whole.error);
  const message = text(error.message) ?? text(whole.error) ?? text(whole.message) ?? text(whole.detail) ?? body.trim();
  return { code: text(error.code) ?? text(error.type) ?? "", message };
}

function retryAfter(headers: IncomingHttpHeaders): { retryAfterMs?: number } {
  const exact = headers["retry-after-ms"];
  if (typeof exact === "string" && Number(exact) >= 0) return { retryAfterMs: Math.ceil(Number(exact)) };
  const header = headers["retry-after"];
  if (header === undefined) return {};
  if (Number(header) >= 0) return { retryAfterMs: Math.ceil(Number(header) * 1000) };
  // Both dates are the server's, so its clock may be wrong without harm.
  const waitMs = Date.parse(header) - Date.parse(headers.date ?? "");
  return Number.isFinite(waitMs) ? { retryAfterMs: Math.max(0, waitMs) } : {};
}
