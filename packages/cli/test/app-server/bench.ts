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
import { onTestFinished } from "vitest";
import type { Client, Host, OpenPart } from "../../src/app-server/method.ts";
import type { Invocation } from "../../src/args.ts";
import type { Program } from "../../src/program.ts";

export interface Notice {
  method: NotificationName;
  params: Record<string, unknown>;
}

export interface TestClient extends Client {
  notices: Notice[];
  /** Settles with the first notification that fits, also one that came before. */
  told(method: NotificationName, fits?: (params: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  leave(): void;
}

export interface Bench {
  client: TestClient;
  /** One more client of the same part. */
  join(): TestClient;
  call<Name extends MethodName>(method: Name, params: ParamsOf<Name>, from?: Client): Promise<ResultOf<Name>>;
  close(): Promise<void>;
}

export interface BenchOptions {
  program?: Partial<Program>;
  variables?: NodeJS.ProcessEnv;
  cwd?: string;
  home?: string;
  invocation?: Invocation;
}

export async function bench(open: OpenPart, options: BenchOptions = {}): Promise<Bench> {
  const clients: TestClient[] = [];
  const program = await testProgram(options);
  const host: Host = {
    program,
    clients: () => clients,
    broadcast(method, params) {
      for (const client of clients) client.notify(method, params);
    },
    invocation: options.invocation ?? { positionals: [], has: () => false, text: () => undefined, list: () => [] },
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
      const carryOut = part.methods[method];
      if (!carryOut) throw new Error(`${method} is not there`);
      const call = { afterwards: (act: () => void) => void behind.push(act), signal: from.closed };
      const checked = clientRequests[method].params.parse(params) as ParamsOf<typeof method>;
      const result = clientRequests[method].result.parse(await carryOut(checked, from, call));
      for (const act of behind) act();
      return result as ResultOf<typeof method>;
    },
  };
}

export async function testProgram({ program, variables, cwd, home }: BenchOptions): Promise<Program> {
  const place = await temporaryDirectory();
  onTestFinished(place.remove);
  const agentHome = home ?? join(place.path, "home");
  mkdirSync(agentHome, { recursive: true });
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return {
    environment: {
      variables: { PATH, LANG, HOME: place.path, SHELL: "/bin/bash", ...variables },
      agentHome,
      userHome: place.path,
      systemDirectory: join(place.path, "system"),
      cwd: cwd ?? place.path,
    },
    reporter: { say() {}, show() {}, async fail() {}, async finish() {} } as unknown as Program["reporter"],
    print: async () => {},
    commands: [],
    version: "0.0.0",
    scrub: scrubber([]),
    directory: place.path,
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
      throw new Error("nobody asks here");
    },
    told: (method, fits = () => true) =>
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
