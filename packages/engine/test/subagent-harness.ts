// A main thread with sub-agents in memory: a script for each task.
import type { TurnSettings } from "@agentcli/protocol";
import type { openKilledStore, StoredThreads } from "@agentcli/testkit";
import {
  type AgentRole,
  agentTools,
  builtInRoles,
  builtInTools,
  type Dependencies,
  drive,
  emptyThread,
  freeze,
  type ModelReply,
  type ModelRequest,
  openLog,
  openSubagents,
  readThread,
  type Tool,
} from "../src/index.ts";
import { calls, openHarness, settings } from "./thread-harness.ts";

/** Replies of the model for each task, in order; the last one repeats. */
export type Script = Record<string, ((results: string[]) => ModelReply)[]>;

export interface RunOptions {
  maxOpen?: number;
  maxDepth?: number;
  tools?: Tool[];
  roles?: AgentRole[];
  turn?: Partial<TurnSettings>;
}

let ids = 0;

/** Starts the main thread, or resumes it from its log. */
export async function runTree(
  model: (request: ModelRequest) => ModelReply,
  storage: ReturnType<typeof openKilledStore>,
  options: RunOptions = {},
) {
  const { maxOpen = 6, maxDepth = 2, tools: more = [], roles = builtInRoles, turn } = options;
  const tools = [...builtInTools, ...agentTools(roles), ...more];
  const workspace = { incarnation: `incarnation-${ids++}`, root: "/project", release: async () => {} };
  const { dependencies, requests } = await openHarness(model, workspace as unknown as Dependencies["workspace"], {
    tools,
  });
  const program = { name: "test", version: "0" };
  const newId = () => `agent-${ids++}`;
  const dependenciesFor = async () => null;
  const subagents = openSubagents({
    store: storage.store,
    roles,
    maxOpen,
    maxDepth,
    newId,
    drive,
    program,
    dependenciesFor,
  });
  const { state } = await readThread(storage.store, "main");
  const log = openLog(state.seq > 0 ? state : emptyThread("main"), { store: storage.store, emit() {} });
  const turnSettings = { ...settings, ...turn };
  const environment = { date: "", timezone: "", writableRoots: [], network: false, rules: [], catalogues: [] };
  const frozen = freeze(turnSettings, environment, tools, { freeformTools: false });
  async function work() {
    if (log.state.seq === 0)
      await log.write({ type: "thread.created", threadId: "main", frozen, settings: turnSettings, program });
    else if (log.state.turn) await log.write({ type: "noted", kind: "policy", data: { settings: turnSettings } });
    if (!log.state.turn)
      await log.write({ type: "turn.begun", turnId: `turn-${ids++}`, input: task("main"), settings: turnSettings });
    const { end } = await drive(log, { ...dependencies, subagents, wait: untilAborted }, new AbortController().signal);
    await subagents.end();
    return end;
  }
  return { end: await Promise.race([work(), storage.killed]), requests };
}

/** Settles only on abort: no time limit is reached in these tests. */
const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const task = (name: string) => [{ type: "text" as const, text: `task ${name}` }];

export const spawn = (name: string, more: object = {}) =>
  calls("spawn_agent", { message: `task ${name}`, ...more }, name);

export const scriptedModel =
  (script: Script) =>
  (request: ModelRequest): ModelReply => {
    const steps = script[taskOf(request)] ?? [];
    const replies = request.messages.filter(({ role }) => role === "assistant").length;
    const step = steps[Math.min(replies, steps.length - 1)];
    if (!step) throw new Error(`no script for ${JSON.stringify(request.messages.at(-1))}`);
    return step(request.messages.flatMap((message) => (message.role === "tool" ? [textOf(message)] : [])));
  };

export const taskOf = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => /^task (\w+)$/.exec(textOf(message))?.[1] ?? []).at(-1) ?? "";

const textOf = (message: ModelRequest["messages"][number]): string =>
  "parts" in message ? message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n") : "";

export const tool = (name: string, act: (args: unknown, signal: AbortSignal) => Promise<string>): Tool => ({
  name,
  onResume: "once",
  parallel: true,
  spec: () => ({ form: "function", name, description: "", parameters: {} }),
  parse: (input) => ({ kind: "arguments", args: JSON.parse(input) }),
  async run(args, { signal }) {
    return { status: "completed", parts: [{ type: "text", text: await act(args, signal) }], detail: { kind: "none" } };
  },
});

export const createdIn = (threads: StoredThreads) =>
  [...threads.values()].flatMap(([first]) => (first?.record.type === "thread.created" ? [first.record] : []));

export function depthIn(threads: StoredThreads, id: string): number {
  const parentId = createdIn(threads).find(({ threadId }) => threadId === id)?.parentId;
  return parentId === undefined ? 0 : 1 + depthIn(threads, parentId);
}
