// A user's desk for one test: a repository, an agent home pointed at a scripted model, and the built program.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  jsonLines,
  type LoggedRequest,
  type Reply,
  type Script,
  startModelServer,
  temporaryDirectory,
  temporaryRepository,
} from "@agentcli/testkit";
import { onTestFinished } from "vitest";

export const program = fileURLToPath(new URL("../packages/cli/bin/agentcli.cjs", import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Text to pipe in; "open" leaves the pipe open; nothing is /dev/null. */
  stdin?: string | Buffer | "open";
  nodeArguments?: string[];
  /** Another Node than this one. */
  node?: string;
}

export interface Desk {
  repository: string;
  home: string;
  git(...args: string[]): Promise<string>;
  start(args: string[], options?: RunOptions): ChildProcess;
  run(args: string[], options?: RunOptions): Promise<Ended>;
  /** `exec --json …`, with the events parsed. */
  events(args: string[], options?: RunOptions): Promise<Ended & { events: Event[] }>;
  requests(): LoggedRequest[];
  /** The records of the only session. */
  records(): { seq: number; record: { type: string; [key: string]: unknown } }[];
  sessionFile(): string;
}

export interface Event {
  type: string;
  [key: string]: unknown;
}

export interface DeskOptions {
  replies?: Reply[] | Script;
  files?: Record<string, string>;
  config?: string;
  wireApi?: "responses" | "chat";
}

export async function desk({
  replies = [],
  files,
  config = "",
  wireApi = "responses",
}: DeskOptions = {}): Promise<Desk> {
  const server = await startModelServer(replies);
  const repository = await temporaryRepository(files);
  const home = await temporaryDirectory();
  onTestFinished(async () => {
    await server.close();
    await repository.remove();
    await home.remove();
  });
  writeFileSync(join(home.path, "config.toml"), providerConfig(server.url, wireApi) + config);

  const start = (args: string[], options: RunOptions = {}) =>
    spawn(options.node ?? process.execPath, [...(options.nodeArguments ?? []), program, ...args], {
      cwd: options.cwd ?? repository.path,
      env: { ...cleanEnvironment(), AGENT_HOME: home.path, ...options.env },
      stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
  const run = async (args: string[], options: RunOptions = {}) => {
    const child = start(args, options);
    if (options.stdin !== undefined && options.stdin !== "open") child.stdin?.end(options.stdin);
    return ended(child);
  };
  const sessionFile = () => only(sessionFiles(home.path));
  return {
    repository: repository.path,
    home: home.path,
    git: repository.git,
    start,
    run,
    async events(args, options) {
      const result = await run(["exec", "--json", ...args], options);
      return { ...result, events: jsonLines(result.stdout) as Event[] };
    },
    requests: server.requests,
    records: () => jsonLines(readFileSync(sessionFile(), "utf8")) as ReturnType<Desk["records"]>,
    sessionFile,
  };
}

const providerConfig = (url: string, wireApi: string): string => `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
base_url = "${url}"
wire_api = "${wireApi}"
retry_base_ms = 1
`;

/** Nothing of the machine the tests run on decides how the program behaves. */
function cleanEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "", LANG = "C.UTF-8" } = process.env;
  return { PATH, HOME, LANG, SHELL: "/bin/bash" };
}

export function ended(child: ChildProcess): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (piece) => out.push(piece));
  child.stderr?.on("data", (piece) => err.push(piece));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}

export function sessionFiles(home: string): string[] {
  const sessions = join(home, "sessions");
  mkdirSync(sessions, { recursive: true });
  return readdirSync(sessions, { recursive: true })
    .map((name) => join(sessions, String(name)))
    .filter((path) => path.endsWith(".jsonl"));
}

function only<T>(values: T[]): T {
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new Error(`expected one, got ${values.length}`);
  return value;
}

export const itemsOf = (events: Event[], type: string): Record<string, unknown>[] =>
  events
    .filter((event) => event.type === "item.completed")
    .map((event) => event.item as Record<string, unknown>)
    .filter((item) => item.type === type);

/** What the model was told in answer to its calls, newest last. */
export const toolOutputs = (request: LoggedRequest | undefined): string[] =>
  ((request?.body as { input?: { type?: string; output?: unknown }[] })?.input ?? [])
    .filter((item) => item.type === "function_call_output" || item.type === "custom_tool_call_output")
    .map((item) => String(item.output));
