// An app server in this process with methods of the test's own, and clients that remember what they were told.

import type { Methods, OpenPart } from "../src/app-server/method.ts";
import type { Link } from "../src/app-server/outbox.ts";
import { type AppServer, openServer } from "../src/app-server/server.ts";
import { parseCommandLine } from "../src/args.ts";
import { commands } from "../src/commands.ts";
import type { Program } from "../src/program.ts";

export interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
  emittedAtMs?: number;
}

export interface Seat {
  send(message: object | string): void;
  /** Everything that arrived, oldest first. */
  heard: Message[];
  /** The first message that fits, now or later. */
  hear(fits: (message: Message) => boolean): Promise<Message>;
  answerTo(id: string | number): Promise<Message>;
  leave(): void;
}

/** Its log is what a person would read on standard error. */
export function testProgram(signal = new AbortController().signal): Program & { log: string[]; printed: string[] } {
  const log: string[] = [];
  const printed: string[] = [];
  const reporter = {
    recall: () => {},
    show: async () => {},
    finish: async () => {},
    fail: async (message: string) => void log.push(message),
    say: (line: string) => void log.push(line),
  };
  return {
    environment: {
      variables: {},
      agentHome: "/agent-home",
      userHome: "/home",
      systemDirectory: "/etc/agentcli",
      cwd: "/",
    },
    reporter,
    print: async (text) => void printed.push(text.toString()),
    commands,
    version: "0.0.0",
    scrub: (text) => text,
    directory: "/",
    signal,
    log,
    printed,
  };
}

export function invocationOf(...argv: string[]) {
  const line = parseCommandLine(["app-server", ...argv]);
  if (line.kind !== "command") throw new Error("no command");
  return line.invocation;
}

export const partOf =
  (methods: Methods): OpenPart =>
  () => ({ methods, close: async () => {} });

export function testServer(...parts: OpenPart[]): { server: AppServer; program: ReturnType<typeof testProgram> } {
  const program = testProgram();
  return { server: openServer(program, invocationOf(), parts), program };
}

/** Connects without a wire. */
export function sitDown(server: AppServer): Seat {
  const seat = listener();
  const link: Link = {
    send(text, taken) {
      seat.take(text);
      taken();
    },
    close: () => {},
    whenFull: "wait",
  };
  const connection = server.connect(link);
  return {
    ...seat,
    send: (message) => connection.receive(typeof message === "string" ? message : JSON.stringify(message)),
    leave: () => connection.end("it left"),
  };
}

export const introduction = {
  id: "hello",
  method: "initialize",
  params: { clientInfo: { name: "test", title: null, version: "1" } },
};

export function listener() {
  const heard: Message[] = [];
  let waiting: { fits(message: Message): boolean; resolve(message: Message): void }[] = [];
  const hear = (fits: (message: Message) => boolean): Promise<Message> => {
    const found = heard.find(fits);
    return found ? Promise.resolve(found) : new Promise((resolve) => waiting.push({ fits, resolve }));
  };
  return {
    heard,
    hear,
    answerTo: (id: string | number) => hear((message) => message.id === id && message.method === undefined),
    take(text: string): void {
      const message = JSON.parse(text) as Message;
      heard.push(message);
      for (const waiter of waiting.filter(({ fits }) => fits(message))) {
        waiting = waiting.filter((other) => other !== waiter);
        waiter.resolve(message);
      }
    },
  };
}
