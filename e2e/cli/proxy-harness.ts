// The built responses proxy in front of an upstream that the test plays.
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ProcessResult, waitForExit } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { onTestFinished } from "vitest";

export const key = "sk-proxy-test-0123456789abcdefghijklmnopqrstuvwxyz";

export interface ProxyInfo {
  url: string;
  port: number;
  pid: number;
  protection: string;
}

export interface RunningProxy extends ProxyInfo {
  harness: Harness;
  token: string;
  tokenFile: string;
  infoFile: string;
  ended: Promise<ProcessResult>;
  /** A request with the token, unless other headers are given. */
  ask(options: AskOptions): Promise<Answer>;
  /** The same, with the answer as a stream. */
  open(options: AskOptions): Promise<IncomingMessage>;
}

export interface AskOptions {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** An upstream on loopback; the address of its Responses API. */
export async function playUpstream(listener: RequestListener): Promise<string> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/responses`;
}

export async function startProxy(upstream: string, flags: string[] = []): Promise<RunningProxy> {
  const harness = await openHarness();
  const [tokenFile, infoFile] = [join(harness.home, "token"), join(harness.home, "server.json")];
  const files = ["--token-file", tokenFile, "--server-info", infoFile];
  const child = harness.start(["responses-proxy", ...files, "--upstream-url", upstream, ...flags], { stdin: "open" });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.end(`${key}\n`);
  const ended = waitForExit(child);
  const info = await readInfo(child, ended);
  const token = readFileSync(tokenFile, "utf8").trim();
  const open = (options: AskOptions) => openRequest(info.port, { authorization: `Bearer ${token}` }, options);
  return {
    ...{ harness, ...info, token, tokenFile, infoFile, ended, open },
    ask: async (options) => readAnswer(await open(options)),
  };
}

/** The line that the proxy prints when it serves. */
export async function readInfo(child: ChildProcess, ended: Promise<ProcessResult>): Promise<ProxyInfo> {
  const line = new Promise<string>((resolve) => child.stdout?.once("data", (chunk) => resolve(String(chunk))));
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(`The proxy ended: ${stderr}`)));
  return JSON.parse(await Promise.race([line, failed]));
}

function openRequest(
  port: number,
  defaults: Record<string, string>,
  { method = "POST", path = "/v1/responses", headers = defaults, body }: AskOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, method, path, headers, agent: false }, resolve);
    request.on("error", reject);
    request.end(body);
  });
}

/** Rejects where the answer breaks off. */
export async function readAnswer(answer: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() };
}
