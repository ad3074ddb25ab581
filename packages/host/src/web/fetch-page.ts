// Fetches one page of the web from the host. Every connection goes through the egress rules: checked by name, resolved once, connected to that address.
import type { Socket } from "node:net";
import type { WebDial } from "@agentcli/workspace";

export interface FetchOptions {
  dial: WebDial;
  signal: AbortSignal;
}

export type FetchedPage =
  | { kind: "page"; url: string; status: number; type: string; text: string; isCut: boolean }
  | { kind: "problem"; message: string };

const maxRedirects = 5;
const maxBytes = 2 * 1024 * 1024;
const timeoutMs = 30_000;

/** Redirects are followed, each one checked like the first address. */
export async function fetchPage(address: string, { dial, signal }: FetchOptions): Promise<FetchedPage> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let url = address;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await ask(url, dial, limited).catch(
      (error: Error): Answer => ({
        kind: "problem",
        message:
          limited.aborted && !signal.aborted
            ? `${url} took longer than ${timeoutMs / 1000} s.`
            : `${url}: ${error.message}`,
      }),
    );
    if (answer.kind !== "redirect") return answer;
    url = answer.to;
  }
  return { kind: "problem", message: `${address} redirects more than ${maxRedirects} times.` };
}

type Answer = FetchedPage | { kind: "redirect"; to: string };

async function ask(address: string, dial: WebDial, signal: AbortSignal): Promise<Answer> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return problem(`${address} is not an http or https address.`);
  if (url.username !== "" || url.password !== "")
    return problem(`${url.host}: addresses with credentials are not fetched.`);
  const dialled = await dial({ host: url.hostname, port: portOf(url) }, signal);
  if (dialled.kind === "denied") return problem(`${dialled.reason} The network policy of this run does not allow it.`);
  if (dialled.kind !== "connected") return problem(dialled.reason);
  try {
    return await exchange(url, dialled.socket, signal);
  } finally {
    dialled.socket.destroy();
  }
}

const problem = (message: string): FetchedPage => ({ kind: "problem", message });
const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port));

async function exchange(url: URL, socket: Socket, signal: AbortSignal): Promise<Answer> {
  const response = await send(url, socket, signal);
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    if (!URL.canParse(headers.location, url.href)) return problem(`${url.href} redirects to an invalid address.`);
    return { kind: "redirect", to: new URL(headers.location, url).href };
  }
  const type = (headers["content-type"] ?? "text/plain").toLowerCase();
  if (!isText(type)) return problem(`${url.href} is ${type.split(";")[0]}; only text and HTML can be read.`);
  const { bytes, isCut } = await readBody(response);
  return { kind: "page", url: url.href, status, type, text: decode(bytes, type), isCut };
}

async function send(url: URL, socket: Socket, signal: AbortSignal) {
  const isSecure = url.protocol === "https:";
  const { request } = isSecure ? await import("node:https") : await import("node:http");
  const { connect } = await import("node:tls");
  const createConnection = () => (isSecure ? connect({ socket, servername: serverName(url) }) : socket);
  const headers = {
    accept: "text/html,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.1",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "agentcli-web-fetch",
  };
  return new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    const sent = (request as typeof import("node:http").request)(
      url,
      { createConnection, headers, signal, agent: false },
      resolve,
    );
    sent.on("error", reject);
    sent.end();
  });
}

/** TLS does not accept an address as a server name. */
const serverName = ({ hostname }: URL): string => (/^[\d.]+$|:/.test(hostname) ? "" : hostname);

const isText = (type: string): boolean =>
  /^(text\/|application\/(json|xml|xhtml\+xml|javascript|x-yaml|toml|[\w.-]+\+(json|xml)))/.test(type);

/** Compressed bodies are limited by what they become. */
async function readBody(response: import("node:http").IncomingMessage): Promise<{ bytes: Buffer; isCut: boolean }> {
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const encoding = response.headers["content-encoding"] ?? "identity";
  const isPlain = encoding === "identity";
  const body = isPlain ? response : response.pipe(encoding === "br" ? createBrotliDecompress() : createUnzip());
  if (!isPlain) response.on("error", (error) => body.destroy(error));
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks), isCut: length > maxBytes };
}

function decode(bytes: Buffer, type: string): string {
  const head = bytes.subarray(0, 1_024).toString("latin1");
  const label = /charset="?([\w-]+)/.exec(type)?.[1] ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
