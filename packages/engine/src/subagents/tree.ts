// All sub-agents of one run in one table: they share its budget and its limit, and none runs longer than its ancestors.
import type { RecordOf, TurnEnd, TurnSettings } from "@agentcli/protocol";
import { abandonTurn } from "../abandon-turn.ts";
import { addLedgers, emptyLedger, type Ledger, subtractLedger } from "../budget/ledger.ts";
import type { Emit, Log, LogOptions } from "../log/log.ts";
import type { Progress } from "../ports.ts";
import type { Dependencies, SubagentSupervisor, ThreadRun } from "../running.ts";
import type { ThreadState } from "../state/state.ts";
import type { Defaults } from "./child.ts";
import { isBelow, isClosed, type Member } from "./member.ts";
import type { AgentRole } from "./role.ts";
import { scopedWorkspace } from "./scoped-workspace.ts";

export interface TreeOptions extends Pick<LogOptions, "store" | "scrub">, Defaults {
  roles: AgentRole[];
  /** Sub-agents open at once, at all levels together. */
  maxOpen: number;
  /** How deep sub-agents may have sub-agents: with 1 only the main thread has any. */
  maxDepth: number;
  newId(): string;
  /** The loop of a thread. */
  drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<unknown>;
  program: RecordOf<"thread.created">["program"];
  /** Dependencies of a sub-agent with these settings; null: those of the main thread. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
  /** Receives all records and progress of a sub-agent; the same value for the same id. */
  watch?(id: string): SubagentObserver;
}

export interface SubagentObserver {
  emit: Emit;
  onProgress(progress: Progress): void;
}

/** How the log of a sub-agent is opened. */
export const logOptions = ({ store, scrub, watch }: TreeOptions, id: string): LogOptions => ({
  store,
  emit: watch?.(id).emit ?? (() => {}),
  ...(scrub && { scrub }),
});

/** One of the `maxOpen` slots, held until it is released; releasing twice is harmless. */
export interface Slot {
  release(): void;
}

export interface Tree {
  readonly options: TreeOptions;
  readonly members: Map<string, Member>;
  /** The main thread as it runs now. */
  root(): ThreadRun;
  setRoot(run: ThreadRun): void;
  /** Holds a slot for a member that does not exist yet; null if all are in use. */
  reserve(): Slot | null;
  isWithinLimit(): boolean;
  /** Starts the loop of a member on its open turn. */
  run(member: Member): void;
  stopBelow(above: Member | null, reason: unknown): void;
  /** Stops all descendants; settles when they have stopped. */
  restBelow(above: Member | null): Promise<void>;
  /** What all other threads of the tree have spent of the budget of the current main turn, plus earlier turns of this thread within it. */
  spentByOtherAgents(self: Member | null): Ledger;
}

/** `supervise` makes the view that a member has of the tree. */
export function openTree(options: TreeOptions, supervise: (tree: Tree, self: Member) => SubagentSupervisor): Tree {
  const members = new Map<string, Member>();
  let main: ThreadRun | null = null;
  const reserved = new Set<Slot>();
  const root = (): ThreadRun => {
    if (!main) throw new Error("sub-agents were used before their main thread ran");
    return main;
  };
  const below = (above: Member | null) => [...members.values()].filter((member) => isBelow(member, above));
  const open = () => [...members.values()].filter((member) => !isClosed(member)).length + reserved.size;

  const tree: Tree = {
    options,
    members,
    root,
    setRoot(run) {
      main = run;
    },
    reserve() {
      if (open() >= options.maxOpen) return null;
      const slot = { release: () => void reserved.delete(slot) };
      reserved.add(slot);
      return slot;
    },
    isWithinLimit: () => open() <= options.maxOpen,
    run(member) {
      member.stop = new AbortController();
      member.reported = false;
      member.defect = null;
      member.resting = work(member);
    },
    stopBelow(above, reason) {
      for (const member of below(above)) member.stop.abort(reason);
    },
    async restBelow(above) {
      tree.stopBelow(above, { end: parentEnded });
      await Promise.all(below(above).map((member) => member.resting));
    },
    spentByOtherAgents: (self) =>
      main ? spentByOtherAgents(main.log.state, self?.log.state ?? null, [...members.values()]) : emptyLedger(),
  };

  async function work(member: Member): Promise<void> {
    try {
      const dependencies = await dependenciesOf(member, root(), options);
      await options.drive(member.log, { ...dependencies, subagents: supervise(tree, member) }, member.stop.signal);
    } catch (error) {
      member.defect = error instanceof Error ? error.message : String(error);
      await closeTurn(member, member.defect);
    }
    await tree.restBelow(member);
  }
  return tree;
}

export const parentEnded: Exclude<TurnEnd, { status: "completed" }> = {
  status: "cancelled",
  reason: "Its parent has ended.",
};

/** If its log cannot be written either, the error is still reported to the parent. */
async function closeTurn({ log }: Member, message: string): Promise<void> {
  await log.write(...abandonTurn(log.state, { status: "failed", code: "internal", message })).catch(() => {});
}

/** Derived from the main thread at every depth: releasing a parent's processes never affects those of its child. */
async function dependenciesOf(member: Member, root: ThreadRun, options: TreeOptions): Promise<Dependencies> {
  const { id, role, parent, log } = member;
  const { turn, frozen } = log.state;
  if (!turn) throw new Error(`sub-agent ${id} was started outside a turn`);
  const { log: _, signal: __, ...inherited } = root;
  const dependencies = (await options.dependenciesFor(turn.settings)) ?? inherited;
  const agent = { id, type: role, task: turn.prompt };
  return {
    ...dependencies,
    // A tool that was not offered cannot be called either.
    tools: dependencies.tools.filter(({ name }) => frozen.tools.some((offered) => offered.name === name)),
    workspace: scopedWorkspace(dependencies.workspace, id),
    unsandboxedWorkspace: dependencies.unsandboxedWorkspace && scopedWorkspace(dependencies.unsandboxedWorkspace, id),
    onProgress: options.watch?.(id).onProgress ?? dependencies.onProgress,
    steering: undefined,
    reservations: root.reservations,
    hooks: root.hooks?.forAgent(agent, parent?.id ?? root.log.state.threadId),
    // The output schema is for the main thread only.
    requestOptions: { ...dependencies.requestOptions, outputSchema: undefined },
    finalMessageCheck: undefined,
  };
}

function spentByOtherAgents(root: ThreadState, self: ThreadState | null, members: Member[]): Ledger {
  const current = self ?? root;
  const others = [root, ...members.map(({ log }) => log.state)].filter((state) => state !== current);
  const paid = others.filter(({ account }) => account.turnId === root.account.turnId);
  const earlier = subtractLedger(current.account.ledger, current.turn?.ledger ?? current.account.ledger);
  return paid.map(({ account }) => account.ledger).reduce(addLedgers, earlier);
}
