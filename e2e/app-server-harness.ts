// The built app server with one client on any of its wires. Everything it says is checked against the method table.
import { once } from "node:events";
import { createInterface } from "node:readline";
import {
  clientRequests,
  type MethodName,
  type NoticeOf,
  type NotificationName,
  type ResultOf,
  type ServerRequestName,
  serverNotifications,
  serverRequests,
} from "@agentcli/protocol/app-server";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { type Desk, type Ended, ended } from "./harness.ts";

export const wires = ["stdio", "ws", "unix"] as const;
export type Wire = (typeof wires)[number];

/** A message as it came. */
export interface Heard {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export interface AppClient {
  /** Everything that arrived, oldest first. */
  heard: Heard[];
  /** Settles with the result; rejects with the error's code and message. */
  ask<Name extends MethodName>(method: Name, params?: object): Promise<ResultOf<Name>>;
  /** The next notification of this kind that fits, from those not waited for yet. */
  told<Name extends NotificationName>(
    method: Name,
    fits?: (params: NoticeOf<Name>) => boolean,
  ): Promise<NoticeOf<Name>>;
  /** Answers this kind of question from now on. */
  answer(method: ServerRequestName, decide: (params: Record<string, unknown>) => unknown): void;
  send(message: object): void;
  /** Ends the connection and the server with it. */
  close(): Promise<Ended>;
  pid: number;
}

/** Starts a server for this test alone and introduces a client to it. */
export async function appServer(
  { start, home }: Pick<Desk, "start" | "home">,
  wire: Wire,
  flags: string[] = [],
): Promise<AppClient> {
  const listen = { stdio: "stdio://", ws: "ws://127.0.0.1:0", unix: `unix://${home}/app.sock` }[wire];
  const child = start(["app-server", "--listen", listen, ...flags], { stdin: "open" });
  const ending = ended(child);
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = wire === "stdio" ? streamLine(child.stdin, child.stdout) : await socketLine(await whereOf(child.stderr));
  const client = converse(line);
  await client.ask("initialize", { clientInfo: { name: "e2e", title: null, version: "1" }, capabilities: null });
  client.send({ method: "initialized" });
  return {
    ...client,
    pid: child.pid ?? 0,
    close() {
      line.end();
      if (wire !== "stdio") child.kill("SIGTERM");
      return ending;
    },
  };
}

/** One more client of a server that listens. */
export async function join(url: string): Promise<Omit<AppClient, "close" | "pid">> {
  const client = converse(await socketLine(url));
  await client.ask("initialize", { clientInfo: { name: "e2e", title: null, version: "1" }, capabilities: null });
  return client;
}

interface Line {
  send(text: string): void;
  onText(take: (text: string) => void): void;
  end(): void;
}

function streamLine(stdin: NodeJS.WritableStream | null, stdout: NodeJS.ReadableStream | null): Line {
  if (!stdin || !stdout) throw new Error("no streams");
  return {
    send: (text) => void stdin.write(`${text}\n`),
    onText: (take) => void createInterface({ input: stdout }).on("line", take),
    end: () => void stdin.end(),
  };
}

/** Where the banner says that it listens. */
export async function whereOf(stderr: NodeJS.ReadableStream | null): Promise<string> {
  if (!stderr) throw new Error("no standard error");
  for (let text = ""; ; ) {
    const [piece] = await once(stderr, "data");
    text += String(piece);
    const found = /listening on: (\S+)\n/.exec(text)?.[1];
    if (found) return found;
  }
}

async function socketLine(url: string): Promise<Line> {
  const socket = new WebSocket(url.startsWith("unix://") ? `ws+unix:${url.slice("unix://".length)}:/` : url);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return {
    send: (text) => socket.send(text),
    onText: (take) => void socket.on("message", (data) => take(String(data))),
    end: () => socket.close(),
  };
}

function converse(line: Line): Omit<AppClient, "close" | "pid"> {
  const heard: Heard[] = [];
  const asked = new Map<number, { method: MethodName; resolve(result: never): void; reject(error: Error): void }>();
  const answers = new Map<string, (params: Record<string, unknown>) => unknown>();
  const spent = new Set<Heard>();
  let look: (() => void)[] = [];
  let nextId = 1;
  const send = (message: object) => line.send(JSON.stringify(message));

  line.onText((text) => {
    const message = JSON.parse(text) as Heard;
    heard.push(message);
    if (message.method === undefined) settle(message);
    else if (message.id !== undefined) reply(message.id, message.method, message.params ?? {});
    const looking = look;
    look = [];
    for (const again of looking) again();
  });

  function settle({ id, result, error }: Heard): void {
    const question = asked.get(Number(id));
    asked.delete(Number(id));
    if (error) question?.reject(Object.assign(new Error(`${error.code} ${error.message}`), error));
    else if (question) question.resolve(clientRequests[question.method].result.parse(result) as never);
  }

  function reply(id: string | number, method: string, params: Record<string, unknown>): void {
    serverRequests[method as ServerRequestName].params.parse(params);
    const decide = answers.get(method);
    if (decide) void Promise.resolve(decide(params)).then((result) => send({ id, result }));
  }

  return {
    heard,
    send,
    ask: (method, params = {}) =>
      new Promise((resolve, reject) => {
        asked.set(nextId, { method, resolve, reject });
        send({ id: nextId++, method, params });
      }),
    answer: (method, decide) => void answers.set(method, decide),
    told: (method, fits = () => true) =>
      new Promise((resolve) => {
        const again = () => {
          const found = heard.find(
            (message) => message.method === method && !spent.has(message) && fits(message.params as never),
          );
          if (!found) return void look.push(again);
          spent.add(found);
          resolve(serverNotifications[method].parse(found.params) as never);
        };
        again();
      }),
  };
}
