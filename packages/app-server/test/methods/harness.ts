// A part of the app server with one client, for tests: calls are checked against the table on their way in and out.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { scrubber } from "@agentcli/engine";
import {
  clientRequests,
  type MethodName,
  type NotificationName,
  type ParamsOf,
  type ResultOf,
  serverNotifications,
} from "@agentcli/protocol/app-server";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { onTestFinished } from "vitest";
import { openAgent } from "../../../cli/src/app-server/agent.ts";
import type { Invocation } from "../../../cli/src/command.ts";
import type { Program } from "../../../cli/src/program.ts";
import { syntax } from "../../../cli/src/syntax.ts";
import type { Client, Host, OpenPart } from "../../src/method.ts";

export interface Notice {
  method: NotificationName;
  params: Record<string, unknown>;
}

export interface TestClient extends Client {
  notices: Notice[];
  /** Settles with the first matching notification, including earlier ones. */
  received(
    method: NotificationName,
    fits?: (params: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>>;
  leave(): void;
}

export interface Harness {
  client: TestClient;
  /** Another client of the same part. */
  join(): TestClient;
  call<Name extends MethodName>(method: Name, params: ParamsOf<Name>, from?: Client): Promise<ResultOf<Name>>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  program?: Partial<Program>;
  variables?: NodeJS.ProcessEnv;
  cwd?: string;
  home?: string;
  invocation?: Invocation;
}

const noFlags: Invocation = { positionals: [], has: () => false, text: () => undefined, list: () => [] };

export async function openHarness(open: OpenPart, options: HarnessOptions = {}): Promise<Harness> {
  const clients: TestClient[] = [];
  const program = await testProgram(options);
  const host: Host = {
    program,
    clients: () => clients,
    broadcast(method, params) {
      for (const client of clients) client.notify(method, params);
    },
    agent: openAgent(options.invocation ?? noFlags, program),
  };
  const part = open(host);
  onTestFinished(part.close);
  const join = () => {
    const client = testClient(clients.length);
    clients.push(client);
    return client;
  };
  const first = join();
  return {
    client: first,
    join,
    close: part.close,
    async call(method, params, from = first) {
      const behind: (() => void)[] = [];
      const execute = part.methods[method];
      if (!execute) throw new Error(`${method} is not there`);
      const call = { afterwards: (act: () => void) => void behind.push(act), signal: from.closed };
      const checked = clientRequests[method].params.parse(params) as ParamsOf<typeof method>;
      const result = clientRequests[method].result.parse(await execute(checked, from, call));
      for (const act of behind) act();
      return result as ResultOf<typeof method>;
    },
  };
}

export async function testProgram({ program, variables, cwd, home }: HarnessOptions): Promise<Program> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const agentHome = home ?? join(directory.path, "home");
  mkdirSync(agentHome, { recursive: true });
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return {
    environment: {
      variables: { PATH, LANG, HOME: directory.path, SHELL: "/bin/bash", ...variables },
      agentHome,
      userHome: directory.path,
      systemDirectory: join(directory.path, "system"),
      cwd: cwd ?? directory.path,
      programs: openHostPrograms({ path: process.env.PATH, home: directory.path, untrusted: [] }),
    },
    reporter: { log() {}, show() {}, async fail() {}, async finish() {} } as unknown as Program["reporter"],
    print: async () => {},
    syntax: async () => syntax,
    version: "0.0.0",
    scrub: scrubber([]),
    directory: directory.path,
    signal: new AbortController().signal,
    ...program,
  };
}

export function testClient(id: number): TestClient {
  const notices: Notice[] = [];
  const waiting = new Set<() => void>();
  const gone = new AbortController();
  return {
    id,
    info: { name: "test", version: "1" },
    wantsExperimental: false,
    optedOut: new Set(),
    notices,
    closed: gone.signal,
    leave: () => gone.abort(),
    room: async () => {},
    notify(method, params) {
      notices.push({ method, params: serverNotifications[method].parse(params) as Record<string, unknown> });
      for (const look of waiting) look();
    },
    ask() {
      throw new Error("no question is asked here");
    },
    received: (method, fits = () => true) =>
      new Promise((resolve) => {
        const look = () => {
          const found = notices.find((notice) => notice.method === method && fits(notice.params));
          if (!found) return;
          waiting.delete(look);
          resolve(found.params);
        };
        waiting.add(look);
        look();
      }),
  };
}
