// A main thread with sub-agents in memory: a script for each task, and a store that can die at a write.
import type { TurnSettings } from "@agentcli/protocol";
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
  openFamily,
  openLog,
  readThread,
  type SessionStore,
  type StoredRecord,
  type Tool,
} from "../src/index.ts";
import { bench, calls, settings } from "./memory.ts";

export type Threads = Map<string, StoredRecord[]>;

/** At write number `dieAt` the first record only is kept, and nothing comes back any more: a kill. */
export function threadStore(known: Threads = new Map(), dieAt = Infinity) {
  let writes = 0;
  let die = () => {};
  const death = new Promise<"killed">((resolve) => {
    die = () => resolve("killed");
  });
  const store: SessionStore = {
    async append(id, after, records) {
      writes += 1;
      const at = new Date(0).toISOString();
      const stored = records.map((record, index) => ({ seq: after + index + 1, at, record }));
      if (writes <= dieAt)
        known.set(id, [...(known.get(id) ?? []), ...(writes === dieAt ? stored.slice(0, 1) : stored)]);
      if (writes < dieAt) return stored;
      die();
      return new Promise(() => {});
    },
    async *read(id, after = 0) {
      yield (known.get(id) ?? []).slice(after);
    },
  };
  return { store, known, death, writes: () => writes };
}

/** What the model says in each task, step by step; the last is said again and again. */
export type Script = Record<string, ((results: string[]) => ModelReply)[]>;

export interface Forest {
  mostOpen?: number;
  maxDepth?: number;
  tools?: Tool[];
  roles?: AgentRole[];
  turn?: Partial<TurnSettings>;
}

let ids = 0;

/** Starts the main thread, or takes it up where its log ends. */
export async function grow(
  model: (request: ModelRequest) => ModelReply,
  place: ReturnType<typeof threadStore>,
  forest: Forest = {},
) {
  const { mostOpen = 6, maxDepth = 2, tools: more = [], roles = builtInRoles, turn } = forest;
  const tools = [...builtInTools, ...agentTools(roles), ...more];
  const workspace = { incarnation: `incarnation-${ids++}`, root: "/project", release: async () => {} };
  const { dependencies, requests } = await bench(model, workspace as unknown as Dependencies["workspace"], { tools });
  const program = { name: "test", version: "0" };
  const newId = () => `agent-${ids++}`;
  const dependenciesFor = async () => null;
  const family = openFamily({ store: place.store, roles, mostOpen, maxDepth, newId, drive, program, dependenciesFor });
  const { state } = await readThread(place.store, "main");
  const log = openLog(state.seq > 0 ? state : emptyThread("main"), { store: place.store, emit() {} });
  const own = { ...settings, ...turn };
  const around = { date: "", timezone: "", writableRoots: [], network: false, rules: [], catalogues: [] };
  const frozen = freeze(own, around, tools, { freeformTools: false });
  async function work() {
    if (log.state.seq === 0)
      await log.write({ type: "thread.created", threadId: "main", frozen, settings: own, program });
    else if (log.state.turn) await log.write({ type: "noted", kind: "policy", data: { settings: own } });
    if (!log.state.turn)
      await log.write({ type: "turn.begun", turnId: `turn-${ids++}`, input: task("main"), settings: own });
    const { end } = await drive(log, { ...dependencies, family, wait: untilAborted }, new AbortController().signal);
    await family.end();
    return end;
  }
  return { end: await Promise.race([work(), place.death]), requests };
}

/** Nothing takes so long here that a limit would be reached. */
const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const task = (name: string) => [{ type: "text" as const, text: `task ${name}` }];

export const spawn = (name: string, more: object = {}) =>
  calls("spawn_agent", { message: `task ${name}`, ...more }, name);

export const acting =
  (script: Script) =>
  (request: ModelRequest): ModelReply => {
    const steps = script[taskOf(request)] ?? [];
    const said = request.messages.filter(({ role }) => role === "assistant").length;
    const step = steps[Math.min(said, steps.length - 1)];
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

export const createdIn = (known: Threads) =>
  [...known.values()].flatMap(([first]) => (first?.record.type === "thread.created" ? [first.record] : []));

export function depthIn(known: Threads, id: string): number {
  const parentId = createdIn(known).find(({ threadId }) => threadId === id)?.parentId;
  return parentId === undefined ? 0 : 1 + depthIn(known, parentId);
}
