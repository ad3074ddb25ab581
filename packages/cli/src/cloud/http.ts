// One request to the platform. What it refuses, or that it cannot be reached, is a CommandError with its exit code.
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { CommandError } from "@agentcli/command-line";
import type { ProblemBody } from "@agentcli/protocol/api";
import type { ExitName } from "@agentcli/protocol/exit-codes";
import type { Access } from "./access.ts";

export interface CloudRequest {
  method: "GET" | "POST";
  /** Below the address of the platform, with its query. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A request with the member that each answer to it has. */
export interface JsonRequest extends CloudRequest {
  expects: string;
}

/** Longest silence. A stream sends a sign of life every fifteen seconds. */
const silenceMs = 60_000;
const maxBytes = 512 * 1024 * 1024;

/** The answer as a value. */
export async function askJson<T>(access: Access, request: JsonRequest, signal: AbortSignal): Promise<T> {
  const answer = await open(access, request, signal);
  const text = await readText(answer).catch((error: Error) => {
    throw unreachable(access, error, signal);
  });
  const value = parsed(text);
  if (typeof value === "object" && value !== null && request.expects in value) return value as T;
  throw strange(access);
}

/** The answer as it is. */
export async function readBytes(access: Access, path: string, signal: AbortSignal): Promise<Buffer> {
  const answer = await open(access, { method: "GET", path }, signal);
  return read(answer).catch((error: Error) => {
    throw unreachable(access, error, signal);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The response once its headers have arrived, if its status is a success. */
export async function open(access: Access, request: CloudRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const answer = await send(access, request, signal).catch((error: Error) => {
    throw unreachable(access, error, signal);
  });
  const { statusCode: status = 0 } = answer;
  if (status === 200 || status === 201) return answer;
  const text = await readText(answer).catch((error: Error) => {
    throw unreachable(access, error, signal);
  });
  throw refusal(status, text, access);
}

async function send({ url, key }: Access, request: CloudRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const target = new URL(`${url}${request.path}`);
  const transport = target.protocol === "https:" ? await import("node:https") : await import("node:http");
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const options: RequestOptions = {
    method: request.method,
    timeout: silenceMs,
    signal,
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "user-agent": "agentcli",
      ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...request.headers,
    },
  };
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = transport.request(target, options, resolve);
    sent.on("timeout", () => sent.destroy(new Error(`no data for ${silenceMs / 1000} s`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

const readText = async (answer: IncomingMessage): Promise<string> => (await read(answer)).toString("utf8");

async function read(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    size += piece.length;
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function refusal(status: number, text: string, access: Access): CommandError {
  const reply = problemIn(text);
  if (!reply)
    return status >= 500 ? new CommandError("unavailable", `${access.url} answered ${status}.`) : strange(access);
  return new CommandError(exitFor(status), reply.message);
}

function problemIn(text: string): ProblemBody["error"] | null {
  const { error } = (parsed(text) ?? {}) as Partial<ProblemBody>;
  return typeof error?.message === "string" ? error : null;
}

/** An unknown agent is like an unknown session: a mistake of the call. */
function exitFor(status: number): ExitName {
  if (status === 401 || status === 403) return "auth";
  if (status === 429 || status >= 500) return "unavailable";
  return status === 400 || status === 404 ? "usage" : "failed";
}

const strange = ({ url }: Access): CommandError =>
  new CommandError("usage", `${url} did not respond like a platform server. Check PLATFORM_BACKEND_URL.`);

function unreachable({ url }: Access, error: Error, signal: AbortSignal): Error {
  if (error instanceof CommandError) return error;
  if (signal.aborted) return new CommandError("failed", "Interrupted.");
  const reason = error.message || (error as NodeJS.ErrnoException).code || "no answer";
  return new CommandError("unavailable", `The platform at ${url} could not be reached: ${reason}. Is it running?`);
}
