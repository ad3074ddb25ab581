// External git servers for tests: `git http-backend` behind HTTP, and `git daemon`.
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { answerWithGit } from "@agentcli/testkit";

export interface GitServer {
  /** Without a trailing slash; repositories are below it by their directory. */
  url: string;
  close(): Promise<void>;
}

export interface HttpGitServer extends GitServer {
  /** Method and path of each request, in order. */
  asked: string[];
}

/** Serves the repositories below `root` with `git http-backend`, pushes included. `intercept` may respond instead. */
export async function serveHttp(
  root: string,
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
  { host = "127.0.0.1", tls }: { host?: string; tls?: { key: Buffer; cert: Buffer } } = {},
): Promise<HttpGitServer> {
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`);
    if (!intercept(request, response)) answerWithGit(root, request, response);
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${host}:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function serveDaemon(root: string): Promise<GitServer> {
  const port = await freePort();
  const flags = ["--export-all", "--enable=receive-pack", "--reuseaddr", "--listen=127.0.0.1", `--port=${port}`];
  const child = spawn("git", ["daemon", ...flags, `--base-path=${root}`, root], { stdio: "ignore", detached: true });
  while (!(await answers(port))) await pause(20);
  return {
    url: `git://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        child.on("close", () => resolve());
        process.kill(-(child.pid ?? 0), "SIGKILL");
      }),
  };
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });

export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
