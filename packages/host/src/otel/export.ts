// Where telemetry goes: a collector over HTTP, or a file with one request per line. Never fails what is observed.
import { appendFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

export interface Destination {
  /** Base URL of a collector: OTLP over HTTP. */
  endpoint?: string | undefined;
  headers: Record<string, string>;
  /** Each line is a request, as a collector's file exporter writes them. */
  file?: string | undefined;
}

export type Signal = "traces" | "metrics";

/** Resolves to what went wrong, as sentences. */
export async function send(signal: Signal, content: object, destination: Destination): Promise<string[]> {
  const body = JSON.stringify(content);
  const { endpoint, file } = destination;
  const problems = await Promise.all([
    endpoint === undefined ? null : post(new URL(`${endpoint.replace(/\/+$/, "")}/v1/${signal}`), body, destination),
    file === undefined ? null : append(file, body),
  ]);
  return problems.flatMap((problem) => problem ?? []);
}

async function append(file: string, body: string): Promise<string | null> {
  try {
    await appendFile(file, `${body}\n`, { mode: 0o600 });
    return null;
  } catch (error) {
    return `Telemetry could not be written to ${file}: ${(error as Error).message}. Check otel.file.`;
  }
}

/** A run does not wait longer for a collector. */
const timeoutMs = 5_000;

function post(url: URL, body: string, { headers }: Destination): Promise<string | null> {
  const problem = (reason: string) =>
    `Telemetry could not be sent to ${url.origin}${url.pathname}: ${reason}. Check otel.endpoint.`;
  return new Promise((resolve) => {
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    const sent = request(
      url,
      {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        response.resume();
        const { statusCode = 0 } = response;
        response.on("close", () => resolve(statusCode < 300 ? null : problem(`it answered HTTP ${statusCode}`)));
      },
    );
    sent.on("error", (error) =>
      resolve(problem(error.name === "AbortError" ? `no answer within ${timeoutMs / 1_000} s` : error.message)),
    );
    let hasResponse = false;
    sent.on("response", () => {
      hasResponse = true;
    });
    // After 101 Node closes the connection without a response and without an error.
    sent.on("close", () => hasResponse || resolve(problem("it closed the connection without a response")));
    sent.end(body);
  });
}
