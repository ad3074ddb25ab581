// agentcli for one test: a repository, an agent home configured for a scripted model, and the built program.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { jsonLines } from "../json-lines.ts";
import type { Reply, Script } from "../model-server/script.ts";
import { type Answering, type LoggedRequest, startModelServer } from "../model-server/server.ts";
import { outputsIn } from "../model-server/tool-outputs.ts";
import { type ProcessResult, waitForExit } from "../processes.ts";
import { cliProgram } from "../project.ts";
import { temporaryDirectory, temporaryRepository } from "../temporary.ts";

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Text to pipe in; "open" leaves the pipe open; nothing is /dev/null. */
  stdin?: string | Buffer | "open";
  nodeArguments?: string[];
  /** Another Node than this one. */
  node?: string;
}

export interface Harness {
  repository: string;
  home: string;
  git(...args: string[]): Promise<string>;
  start(args: string[], options?: RunOptions): ChildProcess;
  run(args: string[], options?: RunOptions): Promise<ProcessResult>;
  /** `exec --json …`, with the events parsed. */
  events(args: string[], options?: RunOptions): Promise<ProcessResult & { events: Event[] }>;
  requests(): LoggedRequest[];
  /** The records of the only session. */
  records(): { seq: number; record: { type: string; [key: string]: unknown } }[];
  sessionFile(): string;
}

export interface Event {
  type: string;
  [key: string]: unknown;
}

export interface HarnessOptions {
  replies?: Reply[] | Script | Answering;
  files?: Record<string, string>;
  config?: string;
  wireApi?: "responses" | "chat" | "anthropic";
  /** `computed`: usage is that of a provider that keeps prompts. */
  usage?: "computed";
}

export async function openHarness({
  replies = [],
  files,
  config = "",
  wireApi = "responses",
  usage,
}: HarnessOptions = {}): Promise<Harness> {
  const server = await startModelServer(replies, usage ? { usage } : {});
  const repository = await temporaryRepository(files);
  const home = await temporaryDirectory();
  const user = await temporaryDirectory();
  onTestFinished(async () => {
    await server.close();
    await repository.remove();
    await home.remove();
    await user.remove();
  });
  writeFileSync(join(home.path, "config.toml"), providerConfig(server.url, wireApi) + config);

  const start = (args: string[], options: RunOptions = {}) =>
    spawn(options.node ?? process.execPath, [...(options.nodeArguments ?? []), cliProgram, ...args], {
      cwd: options.cwd ?? repository.path,
      env: { ...cleanEnvironment(user.path), AGENT_HOME: home.path, ...options.env },
      stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
  const run = async (args: string[], options: RunOptions = {}) => {
    const child = start(args, options);
    if (options.stdin !== undefined && options.stdin !== "open") child.stdin?.end(options.stdin);
    return waitForExit(child);
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
    records: () => jsonLines(readFileSync(sessionFile(), "utf8")) as ReturnType<Harness["records"]>,
    sessionFile,
  };
}

const providerConfig = (url: string, wireApi: string): string => `model = "scripted"
model_provider = "scripted"
model_context_window = 128000
[model_providers.scripted]
base_url = "${url}"
wire_api = "${wireApi}"
retry_base_ms = 1
`;

/** Keeps settings of the machine that runs the tests away from the program, and of its user from login shells. */
function cleanEnvironment(userHome: string): Record<string, string> {
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return { PATH, HOME: userHome, LANG, SHELL: "/bin/bash" };
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

/** Results of tool calls as the model received them, newest last. */
export const toolOutputs = (request: LoggedRequest | undefined): string[] => outputsIn(request?.body);
