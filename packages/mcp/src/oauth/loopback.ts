// Receives the OAuth redirect of the browser on the loopback address.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConsentFlow } from "./provider.ts";

export interface Loopback extends ConsentFlow {
  close(): void;
}

/** Listens on the loopback address only. `show` gives the user the login URL. */
export async function openLoopback(port: number | undefined, show: (url: URL) => void): Promise<Loopback> {
  const state = randomBytes(16).toString("hex");
  const answer = openAnswer();
  const server = createServer((request, response) => receive(request, response, state, answer));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`could not listen on port ${port}: ${error.message}`)));
    server.listen(port ?? 0, "127.0.0.1", resolve);
  });
  return {
    state,
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    ask(url, signal) {
      show(url);
      signal.addEventListener("abort", () => answer.reject(new Error("the login timed out")));
      return answer.code;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface PendingCode {
  code: Promise<string>;
  resolve(code: string): void;
  reject(error: Error): void;
}

function openAnswer(): PendingCode {
  let resolve: (code: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const code = new Promise<string>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  // It may be rejected before it is awaited.
  code.catch(() => {});
  return { code, resolve, reject };
}

function receive(request: IncomingMessage, response: ServerResponse, state: string, answer: PendingCode): void {
  const target = `http://127.0.0.1${request.url}`;
  // Any page and any user of this machine can send requests here.
  if (!request.url?.startsWith("/") || !URL.canParse(target) || !isForThisMachine(request.headers.host))
    return void reply(response, 404, "This address only accepts the redirect of the current login.");
  const { pathname, searchParams } = new URL(target);
  const code = searchParams.get("code");
  const refusal = searchParams.get("error");
  if (pathname !== "/callback" || searchParams.get("state") !== state || (!code && !refusal)) {
    reply(response, 404, "This address only accepts the redirect of the current login.");
  } else if (code) {
    reply(response, 200, "You are logged in. You can close this page.");
    answer.resolve(code);
  } else {
    reply(response, 200, "The login was refused. You can close this page.");
    const why = searchParams.get("error_description");
    answer.reject(new Error(`the login was refused: ${refusal}${why ? ` (${why})` : ""}`));
  }
}

/** A name that leads here belongs to another site. */
const isForThisMachine = (host = ""): boolean => /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host);

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(`${text}\n`);
}
