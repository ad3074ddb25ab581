// A small client of the app server, the same over standard streams, WebSocket and Unix socket.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import { checkSaid } from "./app-server-contract.ts";
import type { Desk, RunOptions } from "./harness.ts";

export const wires = ["stdio", "ws", "unix"] as const;
export type Wire = (typeof wires)[number];

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of many shapes, and fail where one is another.
export type Body = any;

export interface Message {
  method: string;
  params: Body;
  id?: number;
}

export interface AppClient {
  /** Settles with the result, rejects with the error. */
  request(method: string, params?: object): Promise<Body>;
  /** Everything told or asked so far, in the order it came. */
  readonly heard: Message[];
  /** The first message for which this is true, of those that came or will come. */
  until(wanted: (message: Message) => boolean): Promise<Message>;
  told(method: string): Promise<Message>;
  /** How this client answers questions of this kind from now on; undefined leaves them open. */
  answer(method: string, reply: (params: Body) => Body | undefined): void;
  /** Ends this connection. */
  close(): Promise<void>;
}

export interface Server {
  /** Another client; over standard streams there is only one. */
  connect(name?: string): Promise<AppClient>;
  child: ChildProcess;
  /** Lets it go as its transport is let go, and waits for its end. */
  end(): Promise<number | null>;
}

export async function startServer(
  at: Desk,
  wire: Wire,
  options: RunOptions & { args?: string[] } = {},
): Promise<Server> {
  const address = wire === "ws" ? "ws://127.0.0.1:0" : `unix://${join(at.home, "app.sock")}`;
  const listen = wire === "stdio" ? [] : ["--listen", address];
  const child = at.start(["app-server", ...listen, ...(options.args ?? [])], { ...options, stdin: "open" });
  const exited = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const where = wire === "stdio" ? "" : await listening(child);
  if (wire === "stdio") child.stderr?.resume();
  return {
    child,
    connect: async (name = "test") => introduce(wire === "stdio" ? overStreams(child) : await overSocket(where), name),
    end() {
      if (wire === "stdio") child.stdin?.end();
      else child.kill("SIGTERM");
      return exited;
    },
  };
}

/** A client of a server that listens there. */
export const connectTo = async (where: string): Promise<AppClient> => introduce(await overSocket(where), "test");

interface Line {
  send(text: string): void;
  listen(onText: (text: string) => void): void;
  close(): Promise<void>;
}

function overStreams(child: ChildProcess): Line {
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

async function overSocket(where: string): Promise<Line> {
  const path = /^unix:\/\/(.*)$/.exec(where)?.[1];
  const socket = new WebSocket(path ? `ws+unix://${path}:/` : where);
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

/** Where the banner says that it listens. */
export function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (piece) => {
      said += piece;
      const [, where] = /listening on: (\S+)\n/.exec(said) ?? [];
      if (where) resolve(where);
    });
    child.on("close", () => reject(new Error(`the server ended before it listened: ${said}`)));
  });
}

async function introduce(line: Line, name: string): Promise<AppClient> {
  const pending = new Map<number, { method: string; resolve(result: Body): void; reject(error: Error): void }>();
  const heard: Message[] = [];
  const waiting = new Set<() => void>();
  const replies = new Map<string, (params: Body) => Body | undefined>();
  let next = 1;

  line.listen((text) => {
    const message = JSON.parse(text);
    checkSaid(message, pending.get(message.id)?.method);
    if (message.method === undefined) {
      const call = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) call?.reject(Object.assign(new Error(message.error.message), message.error));
      else call?.resolve(message.result);
      return;
    }
    heard.push(message);
    const reply = message.id === undefined ? undefined : replies.get(message.method)?.(message.params);
    if (reply !== undefined) line.send(JSON.stringify({ id: message.id, result: reply }));
    for (const look of waiting) look();
  });

  const client: AppClient = {
    heard,
    request(method, params = {}) {
      const id = next++;
      line.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve, reject) => pending.set(id, { method, resolve, reject }));
    },
    until: (wanted) =>
      new Promise((resolve) => {
        const look = () => {
          const found = heard.find(wanted);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    told: (method) => client.until((message) => message.method === method),
    answer: (method, reply) => void replies.set(method, reply),
    close: line.close,
  };
  await client.request("initialize", { clientInfo: { name, version: "0" } });
  line.send(JSON.stringify({ method: "initialized" }));
  return client;
}

/** What was told of one thread, as `method` or `method(detail)`, in order. */
export const story = (heard: Message[], threadId: string): string[] =>
  heard
    .filter(({ params }) => params.threadId === threadId || params.thread?.id === threadId)
    .filter(({ method }) => !method.endsWith("/outputDelta") && !method.endsWith("/delta"))
    .map(({ method, params }) => {
      const detail = params.item?.type ?? params.status?.type ?? params.turn?.status;
      const flags = params.status?.activeFlags?.join(",");
      return `${method}${detail ? `(${detail}${flags ? `:${flags}` : ""})` : ""}`;
    });
