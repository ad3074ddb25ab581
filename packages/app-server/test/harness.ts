// An app server in this process with methods defined by the test, and clients that record what they receive.

import { parseCommandLine } from "@agentcli/command-line";
import { openHostPrograms } from "@agentcli/workspace";
import { openAgent } from "../../cli/src/app-server/agent.ts";
import type { Program } from "../../cli/src/program.ts";
import { syntax } from "../../cli/src/syntax.ts";
import type { Link } from "../src/dispatch/outbox.ts";
import type { Methods, OpenPart } from "../src/method.ts";
import { type AppServer, openServer } from "../src/server.ts";

export interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
  emittedAtMs?: number;
}

export interface TestConnection {
  send(message: object | string): void;
  /** Everything that arrived, oldest first. */
  received: Message[];
  /** The first matching message, now or later. */
  waitFor(fits: (message: Message) => boolean): Promise<Message>;
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
    log: (line: string) => void log.push(line),
  };
  return {
    environment: {
      variables: {},
      agentHome: "/agent-home",
      userHome: "/home",
      systemDirectory: "/etc/agentcli",
      cwd: "/",
      programs: openHostPrograms({ path: process.env.PATH, home: "/home", untrusted: [] }),
    },
    reporter,
    print: async (text) => void printed.push(text.toString()),
    syntax: async () => syntax,
    version: "0.0.0",
    scrub: (text) => text,
    directory: "/",
    signal,
    log,
    printed,
  };
}

export function invocationOf(...argv: string[]) {
  const line = parseCommandLine(["app-server", ...argv], syntax);
  if (line.kind !== "command") throw new Error("no command");
  return line.invocation;
}

export const partOf =
  (methods: Methods): OpenPart =>
  () => ({ methods, close: async () => {} });

export function testServer(...parts: OpenPart[]): { server: AppServer; program: ReturnType<typeof testProgram> } {
  const program = testProgram();
  return { server: openServer(program, openAgent(invocationOf(), program), parts), program };
}

/** Connects without a wire. */
export function connect(server: AppServer): TestConnection {
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
  const received: Message[] = [];
  let waiting: { fits(message: Message): boolean; resolve(message: Message): void }[] = [];
  const waitFor = (fits: (message: Message) => boolean): Promise<Message> => {
    const found = received.find(fits);
    return found ? Promise.resolve(found) : new Promise((resolve) => waiting.push({ fits, resolve }));
  };
  return {
    received,
    waitFor,
    answerTo: (id: string | number) => waitFor((message) => message.id === id && message.method === undefined),
    take(text: string): void {
      const message = JSON.parse(text) as Message;
      received.push(message);
      for (const waiter of waiting.filter(({ fits }) => fits(message))) {
        waiting = waiting.filter((other) => other !== waiter);
        waiter.resolve(message);
      }
    },
  };
}
