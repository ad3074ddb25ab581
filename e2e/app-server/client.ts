// A small client of the app server, the same over standard streams, WebSocket and Unix socket.
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Harness, RunOptions } from "@agentcli/testkit/cli";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import { checkMessage } from "./contract.ts";

export const wires = ["stdio", "ws", "unix"] as const;
export type Wire = (typeof wires)[number];

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of many shapes, and fail where a shape differs.
export type Body = any;

export interface Message {
  method: string;
  params: Body;
  id?: number;
}

export interface AppClient {
  /** Settles with the result, rejects with the error. */
  request(method: string, params?: object): Promise<Body>;
  /** Notifications and requests of the server so far, in order. */
  readonly received: Message[];
  /** The first matching message, received already or later. */
  waitFor(matches: (message: Message) => boolean): Promise<Message>;
  notification(method: string): Promise<Message>;
  /** How this client answers server requests of this method from now on; undefined leaves them unanswered. */
  answerRequests(method: string, reply: (params: Body) => Body | undefined): void;
  /** Ends this connection. */
  close(): Promise<void>;
}

export interface Server {
  /** Another client; over standard streams there is only one. */
  connect(name?: string): Promise<AppClient>;
  child: ChildProcess;
  /** Stops it as its transport requires, and waits for its exit. */
  end(): Promise<number | null>;
}

export async function startServer(
  harness: Harness,
  wire: Wire,
  options: RunOptions & { args?: string[] } = {},
): Promise<Server> {
  const address = wire === "ws" ? "ws://127.0.0.1:0" : `unix://${join(harness.home, "app.sock")}`;
  const listen = wire === "stdio" ? [] : ["--listen", address];
  const child = harness.start(["app-server", ...listen, ...(options.args ?? [])], { ...options, stdin: "open" });
  const exited = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const where = wire === "stdio" ? "" : await listenAddress(child);
  const token = wire === "ws" ? serverToken(harness.home) : undefined;
  if (wire === "stdio") child.stderr?.resume();
  return {
    child,
    connect: async (name = "test") =>
      initializeClient(wire === "stdio" ? overStreams(child) : await overSocket(where, token), name),
    end() {
      if (wire === "stdio") child.stdin?.end();
      else child.kill("SIGTERM");
      return exited;
    },
  };
}

/** A client of a server that listens there; a port needs the token. */
export const connectTo = async (where: string, token?: string): Promise<AppClient> =>
  initializeClient(await overSocket(where, token), "test");

/** The token that a server on a port made. */
export const serverToken = (home: string): string =>
  readFileSync(join(home, "app-server-control", "ws-token"), "utf8").trim();

interface Transport {
  send(text: string): void;
  listen(onText: (text: string) => void): void;
  close(): Promise<void>;
}

function overStreams(child: ChildProcess): Transport {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("the server has no standard streams");
  return {
    send: (text) => void stdin.write(`${text}\n`),
    listen: (onText) => void createInterface({ input: stdout }).on("line", onText),
    async close() {
      stdin.end();
    },
  };
}

async function overSocket(where: string, token?: string): Promise<Transport> {
  const path = /^unix:\/\/(.*)$/.exec(where)?.[1];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(path ? `ws+unix://${path}:/` : where, { headers });
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  return {
    send: (text) => socket.send(text),
    listen: (onText) => void socket.on("message", (data) => onText(String(data))),
    close: () =>
      new Promise((resolve) => {
        socket.on("close", () => resolve());
        socket.close();
      }),
  };
}

/** The address in the banner. */
export function listenAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
      const [, where] = /listening on: (\S+)\n/.exec(stderr) ?? [];
      if (where) resolve(where);
    });
    child.on("close", () => reject(new Error(`the server ended before it listened: ${stderr}`)));
  });
}

async function initializeClient(transport: Transport, name: string): Promise<AppClient> {
  const pending = new Map<number, { method: string; resolve(result: Body): void; reject(error: Error): void }>();
  const received: Message[] = [];
  const waiting = new Set<() => void>();
  const replies = new Map<string, (params: Body) => Body | undefined>();
  let next = 1;

  transport.listen((text) => {
    const message = JSON.parse(text);
    checkMessage(message, pending.get(message.id)?.method);
    if (message.method === undefined) {
      const call = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) call?.reject(Object.assign(new Error(message.error.message), message.error));
      else call?.resolve(message.result);
      return;
    }
    received.push(message);
    const reply = message.id === undefined ? undefined : replies.get(message.method)?.(message.params);
    if (reply !== undefined) transport.send(JSON.stringify({ id: message.id, result: reply }));
    for (const check of waiting) check();
  });

  const client: AppClient = {
    received,
    request(method, params = {}) {
      const id = next++;
      transport.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve, reject) => pending.set(id, { method, resolve, reject }));
    },
    waitFor: (matches) =>
      new Promise((resolve) => {
        const check = () => {
          const found = received.find(matches);
          if (!found) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    notification: (method) => client.waitFor((message) => message.method === method),
    answerRequests: (method, reply) => void replies.set(method, reply),
    close: transport.close,
  };
  await client.request("initialize", { clientInfo: { name, version: "0" } });
  transport.send(JSON.stringify({ method: "initialized" }));
  return client;
}

/** Messages about one thread, as `method` or `method(detail)`, in order. */
export const summarize = (received: Message[], threadId: string): string[] =>
  received
    .filter(({ params }) => params.threadId === threadId || params.thread?.id === threadId)
    .filter(({ method }) => !method.endsWith("/outputDelta") && !method.endsWith("/delta"))
    .map(({ method, params }) => {
      const detail = params.item?.type ?? params.status?.type ?? params.turn?.status;
      const flags = params.status?.activeFlags?.join(",");
      return `${method}${detail ? `(${detail}${flags ? `:${flags}` : ""})` : ""}`;
    });
