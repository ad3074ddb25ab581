// One request over HTTP or HTTPS, and its answer as it arrives.
import { request as askOverHttp, type IncomingMessage } from "node:http";
import { request as askOverHttps } from "node:https";

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Longest silence, before the answer and within it. */
  silenceMs: number;
}

/** Settles when the answer begins. */
export function exchange({ method, url, headers, body, silenceMs }: HttpRequest, signal: AbortSignal) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const ask = url.protocol === "https:" ? askOverHttps : askOverHttp;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const asked = ask(url, { method, headers: { ...headers, ...length }, signal }, resolve);
    asked.setTimeout(silenceMs, () => asked.destroy(new Error(`no data for ${silenceMs / 1000} s`)));
    asked.on("error", reject);
    asked.end(body);
  });
}

export async function readBody(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks);
}
