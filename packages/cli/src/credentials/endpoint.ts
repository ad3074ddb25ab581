// Asks a token endpoint. Answers with the fields it sent, or throws a sentence without any secret in it.
import type { IncomingMessage, RequestOptions } from "node:http";
import { CommandError } from "@agentcli/command-line";
import { redacted } from "@agentcli/protocol/redacted";

export interface EndpointRequest {
  url: URL;
  /** Sent as a form; a GET without one. */
  form?: Record<string, string>;
  headers?: Record<string, string>;
  /** What the request carries and no message may repeat. */
  secrets: string[];
}

export type Fields = Readonly<Record<string, unknown>>;

const maxAttempts = 3;
const firstDelayMs = 200;

export async function askEndpoint(request: EndpointRequest): Promise<Fields> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(request);
    if (answer.kind === "answered" && answer.status >= 200 && answer.status < 300)
      return readFields(answer.body, request);
    const mayPass = answer.kind === "unreachable" || answer.status >= 500;
    if (!mayPass || attempt === maxAttempts) throw refusal(answer, request);
    await new Promise((resolve) => setTimeout(resolve, firstDelayMs * 2 ** (attempt - 1)));
  }
}

/** Tokens are sent there: only over TLS, unless the address is on this machine. */
export function endpointUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isLoopback = url !== null && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) return url;
  throw new CommandError("usage", `${name} is "${text}", which is not an https address.`);
}

/** Part of a header: a line break or a letter beyond ASCII would make the request unsendable. */
export function tokenIn(fields: Fields, name: string, url: URL): string {
  const token = fields[name];
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new CommandError("auth", `${locationOf(url)} answered without a usable ${name}.`);
}

type Answer = { kind: "answered"; status: number; body: string } | { kind: "unreachable"; reason: string };

const limitMs = 15_000;

async function send({ url, form, headers }: EndpointRequest): Promise<Answer> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const body = form && new URLSearchParams(form).toString();
  const options: RequestOptions = {
    method: body === undefined ? "GET" : "POST",
    signal: AbortSignal.timeout(limitMs),
    headers: {
      accept: "application/json",
      ...(body !== undefined && {
        "content-type": "application/x-www-form-urlencoded",
        "content-length": Buffer.byteLength(body),
      }),
      ...headers,
    },
  };
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ kind: "unreachable", reason: reasonOf(error) });
    const sent = request(url, options, (answer) => readBody(answer).then(resolve, failed));
    sent.on("error", failed);
    sent.end(body);
  });
}

const maxBytes = 1024 * 1024;

async function readBody(answer: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) throw new Error("the answer is too long");
  }
  return { kind: "answered", status: answer.statusCode ?? 0, body: Buffer.concat(pieces).toString("utf8") };
}

const reasonOf = (error: Error): string =>
  error.name === "AbortError" ? `no answer within ${limitMs / 1000} s` : error.message || error.name;

function readFields(body: string, { url }: EndpointRequest): Fields {
  try {
    const fields: unknown = JSON.parse(body);
    if (typeof fields === "object" && fields !== null) return fields as Fields;
  } catch {
    // Falls through to the one message for everything that is not a JSON object.
  }
  throw new CommandError("auth", `${locationOf(url)} did not answer with a JSON object.`);
}

function refusal(answer: Answer, { url, secrets }: EndpointRequest): CommandError {
  const detail =
    answer.kind === "unreachable"
      ? `could not be reached: ${answer.reason}`
      : `answered HTTP ${answer.status}: ${messageIn(answer.body)}`;
  return new CommandError("auth", hide(`${locationOf(url)} ${detail}.`, secrets));
}

/** OAuth says it in error_description, others in message. */
function messageIn(body: string): string {
  const fields = parseObject(body);
  const words = [fields.error, fields.error_description, fields.message].filter((part) => typeof part === "string");
  return (words.length > 0 ? words.join(": ") : body.trim()).slice(0, 500).replace(/[.\s]+$/, "") || "no reason given";
}

function parseObject(text: string): Fields {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

const hide = (text: string, secrets: string[]): string =>
  secrets.filter((secret) => secret !== "").reduce((shown, secret) => shown.replaceAll(secret, redacted), text);

const locationOf = (url: URL): string => `The token endpoint ${url.origin}${url.pathname}`;
