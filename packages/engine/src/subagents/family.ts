// The sub-agents of a thread: threads of their own under the same loop, never with more rights or money than their parent.
import type { AgentState, Part, RecordOf, TurnSettings } from "@agentcli/protocol";
import { addLedgers, emptyLedger, type Ledger, subtractLedger } from "../budget.ts";
import type { AgentIdentity } from "../hooks/gate.ts";
import { type Emit, type Log, openLog, readThread } from "../log.ts";
import type { SessionStore } from "../ports.ts";
import type { Dependencies, Drive, Progress } from "../running.ts";
import type { Scrub } from "../scrub.ts";
import { emptyThread, type ThreadState, textPart, wordsOf } from "../state.ts";
import { abandonTurn } from "../turn.ts";
import { agentToolNames } from "./names.ts";
import { type AgentRole, narrower } from "./role.ts";
import { scopedWorkspace } from "./scoped-workspace.ts";

export interface FamilyOptions {
  store: SessionStore;
  scrub?: Scrub;
  roles: AgentRole[];
  /** Sub-agents open at once. */
  mostOpen: number;
  defaultModel?: string;
  defaultEffort?: string;
  newId(): string;
  /** The loop itself. */
  drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<unknown>;
  program: RecordOf<"thread.created">["program"];
  /** What a child needs to run under these settings; null for what its parent has. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
  /** Told of everything a child does; without it nobody watches. */
  watch?(childId: string): Watching;
}

export interface Watching {
  emit: Emit;
  onProgress(progress: Progress): void;
}

/** The thread the family belongs to, as it runs. */
export type Parent = Drive;

export interface SpawnRequest {
  input: Part[];
  role: AgentRole;
  model?: string;
  effort?: string;
  /** Told to the child before its task. */
  background: string | null;
}

interface Child {
  log: Log;
  stop: AbortController;
  /** Settles when the child rests. */
  resting: Promise<unknown>;
  dependencies: Dependencies;
  closed: boolean;
  /** The parent knows how it stands. */
  told: boolean;
}

export interface Family {
  readonly roles: AgentRole[];
  spawn(parent: Parent, request: SpawnRequest): Promise<{ id: string } | { refused: string }>;
  /** Gives a resting child another turn, or stops what it does first. */
  send(id: string, input: Part[], interrupt: boolean): Promise<string | null>;
  states(ids: string[]): Record<string, AgentState>;
  /** Settles when one of these children rests, or on abort. */
  anyResting(ids: string[], signal: AbortSignal): Promise<void>;
  close(id: string): Promise<void>;
  /** Takes up a child of an earlier run; one cut off in a turn goes on with it. */
  restore(parent: Parent, id: string): Promise<boolean>;
  /** What all children have spent. */
  spent(): Ledger;
  /** Children that rest and that the parent has not heard of yet; each is told once. */
  news(): Record<string, AgentState>;
  end(): Promise<void>;
}

// Over 60 lines because all of it works on one table of children that nobody else may touch.
export function openFamily(options: FamilyOptions): Family {
  const children = new Map<string, Child>();
  const open = () => [...children.values()].filter((child) => !child.closed);
  /** Hooks are asked before a child exists; meanwhile its place is taken. */
  let starting = 0;
  const heeded = new WeakSet<AbortSignal>();

  const stopAll = (reason: unknown) => {
    for (const child of children.values()) child.stop.abort(reason);
  };

  function run(child: Child): void {
    child.stop = new AbortController();
    child.told = false;
    child.resting = options.drive(child.log, child.dependencies, child.stop.signal);
    // Its end is in its log; a defect is shown as the child's error, not as the parent's.
    child.resting.catch(() => {});
  }

  async function askHooks(agent: AgentIdentity, parent: Parent) {
    starting += 1;
    try {
      return await parent.hooks?.spawning(agent, parent);
    } finally {
      starting -= 1;
    }
  }

  async function adopt(agent: AgentIdentity, state: ThreadState, settings: TurnSettings, parent: Parent) {
    const { id } = agent;
    const { log: _, signal: __, ...inherited } = parent;
    const own = (await options.dependenciesFor(settings)) ?? inherited;
    const workspace = scopedWorkspace(own.workspace, id);
    const spentElsewhere = () => elsewhere(parent, child, [...children.values()]);
    const { reservations } = parent;
    // What shapes the final message of the parent is not for its children.
    const requestOptions = { ...own.requestOptions, outputSchema: undefined };
    const hooks = parent.hooks?.forAgent(agent, parent.log.state.threadId);
    const outside = own.outside && scopedWorkspace(own.outside, id);
    const { emit, onProgress } = options.watch?.(id) ?? { emit() {}, onProgress: own.onProgress };
    const theirs = { family: undefined, answer: undefined, steering: undefined, requestOptions, hooks, onProgress };
    const dependencies = { ...own, ...theirs, workspace, outside, spentElsewhere, reservations };
    const log = openLog(state, { store: options.store, emit, ...(options.scrub && { scrub: options.scrub }) });
    const child: Child = {
      log,
      stop: new AbortController(),
      resting: Promise.resolve(),
      dependencies,
      closed: false,
      told: false,
    };
    children.set(id, child);
    // Each turn of the parent has a signal of its own.
    if (!heeded.has(parent.signal))
      parent.signal.addEventListener("abort", () => stopAll(parent.signal.reason), { once: true });
    heeded.add(parent.signal);
    return child;
  }

  return {
    roles: options.roles,
    async spawn(parent, request) {
      if (open().length + starting >= options.mostOpen) return { refused: tooMany(options.mostOpen) };
      const id = options.newId();
      const agent = { id, type: request.role.name, task: wordsOf(request.input) };
      const told = await askHooks(agent, parent);
      if (told?.kind === "refused") return { refused: told.reason };
      const settings = childSettings(parent.log.state, request, options);
      const child = await adopt(agent, emptyThread(id), settings, parent);
      const background = [request.background, ...(told?.context ?? [])].filter((text) => text !== null);
      const wanted = { ...request, background: background.join("\n\n") || null };
      await child.log.write(created(id, parent, wanted, { settings, program: options.program }), {
        type: "turn.begun",
        turnId: options.newId(),
        input: request.input,
        settings,
      });
      run(child);
      return { id };
    },
    async send(id, input, interrupt) {
      const child = children.get(id);
      if (!child || child.closed) return null;
      if (interrupt) child.stop.abort({ end: { status: "cancelled", reason: "Interrupted by its parent." } });
      await child.resting;
      const settings = child.log.state.settings;
      if (!settings) return null;
      const turnId = options.newId();
      await child.log.write({ type: "turn.begun", turnId, input, settings });
      run(child);
      return turnId;
    },
    states(ids) {
      for (const id of ids) {
        const child = children.get(id);
        if (child && !child.log.state.turn) child.told = true;
      }
      return Object.fromEntries(ids.map((id) => [id, stateOf(children.get(id))]));
    },
    async anyResting(ids, signal) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      const known = ids.flatMap((id) => children.get(id) ?? []);
      await Promise.race([aborted, ...known.map((child) => child.resting.catch(() => {}))]);
    },
    async close(id) {
      const child = children.get(id);
      if (!child) return;
      child.closed = true;
      child.stop.abort({ end: { status: "cancelled", reason: "Closed by its parent." } });
      await child.resting.catch(() => {});
    },
    async restore(parent, id) {
      const known = children.get(id);
      if (known) {
        known.closed = false;
        return true;
      }
      const { state, records } = await readThread(options.store, id);
      const first = records[0]?.record;
      if (!state.settings || first?.type !== "thread.created") return false;
      const agent = { id, type: first.role ?? "default", task: state.turn?.prompt ?? "" };
      const child = await adopt(agent, state, state.settings, parent);
      if (state.turn) run(child);
      return true;
    },
    spent: () => sumOf([...children.values()]),
    news() {
      const fresh = [...children].filter(([, child]) => !child.told && !child.closed && !child.log.state.turn);
      for (const [, child] of fresh) child.told = true;
      return Object.fromEntries(fresh.map(([id, child]) => [id, stateOf(child)]));
    },
    async end() {
      stopAll({ end: { status: "cancelled", reason: "Its parent has ended." } });
      await Promise.allSettled([...children.values()].map((child) => child.resting));
      for (const { log } of children.values()) {
        if (log.state.turn)
          await log.write(...abandonTurn(log.state, { status: "cancelled", reason: "Its parent has ended." }));
      }
    },
  };
}

const sumOf = (children: Child[]): Ledger =>
  children.map((child) => child.log.state.spent).reduce(addLedgers, emptyLedger());

/** What everybody else of the family has spent, and the child itself in earlier turns. */
function elsewhere(parent: Parent, child: Child, all: Child[]): Ledger {
  const own = child.log.state;
  const others = sumOf(all.filter((other) => other !== child));
  const earlier = subtractLedger(own.spent, own.turn?.ledger ?? own.spent);
  return [parent.log.state.turn?.ledger ?? emptyLedger(), others, earlier].reduce(addLedgers);
}

const tooMany = (most: number): string =>
  `There are ${most} open agents already, which is the most. Wait for one with wait_agent and close it with close_agent.`;

function childSettings(parent: ThreadState, request: SpawnRequest, options: FamilyOptions): TurnSettings {
  const own = parent.turn?.settings;
  if (!own) throw new Error("an agent was spawned outside a turn");
  const { role } = request;
  const fixed = role.model === "inherit" ? undefined : role.model;
  return {
    ...own,
    model: fixed ?? request.model ?? options.defaultModel ?? own.model,
    effort: role.effort ?? request.effort ?? options.defaultEffort ?? own.effort,
    sandbox: narrower(own.sandbox, role.sandbox),
  };
}

function created(
  threadId: string,
  { log }: Parent,
  { role, background }: SpawnRequest,
  { settings, program }: { settings: TurnSettings; program: FamilyOptions["program"] },
): RecordOf<"thread.created"> {
  const { frozen } = log.state;
  const allowed = (name: string) => !agentToolNames.includes(name) && (role.tools?.includes(name) ?? true);
  return {
    type: "thread.created",
    threadId,
    parentId: log.state.threadId,
    role: role.name,
    frozen: {
      instructions: role.instructions
        ? `${frozen.instructions}\n\nYour role\n${role.instructions}`
        : frozen.instructions,
      tools: frozen.tools.filter((tool) => allowed(tool.name)),
      context:
        background === null ? frozen.context : [...frozen.context, { role: "user", parts: [textPart(background)] }],
    },
    settings,
    program,
  };
}

function stateOf(child: Child | undefined): AgentState {
  if (!child) return { status: "not_found", message: null };
  const { turn, end } = child.log.state;
  if (child.closed) return { status: "shutdown", message: end?.status === "completed" ? end.message : null };
  if (turn) return { status: "running", message: null };
  if (!end) return { status: "pending_init", message: null };
  if (end.status === "completed") return { status: "completed", message: end.message };
  if (end.status === "cancelled") return { status: "interrupted", message: end.reason };
  return { status: "errored", message: end.message };
}
