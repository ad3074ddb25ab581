// All sub-agents of one run in one table: they share its budget and its places, and none outlives those above it.
import type { RecordOf, TurnEnd, TurnSettings } from "@agentcli/protocol";
import { addLedgers, emptyLedger, type Ledger, subtractLedger } from "../budget.ts";
import type { Emit, Log, LogOptions } from "../log.ts";
import type { Dependencies, Drive, Progress } from "../running.ts";
import type { ThreadState } from "../state.ts";
import { abandonTurn } from "../turn.ts";
import type { Family } from "./family.ts";
import { isBelow, isClosed, type Member } from "./member.ts";
import type { AgentRole } from "./role.ts";
import { scopedWorkspace } from "./scoped-workspace.ts";

export interface TreeOptions extends Pick<LogOptions, "store" | "scrub"> {
  roles: AgentRole[];
  /** Sub-agents open at once, at all levels together. */
  mostOpen: number;
  /** How deep sub-agents may have sub-agents: with 1 only the main thread has any. */
  maxDepth: number;
  defaultModel?: string;
  defaultEffort?: string;
  newId(): string;
  /** The loop itself. */
  drive(log: Log, dependencies: Dependencies, signal: AbortSignal): Promise<unknown>;
  program: RecordOf<"thread.created">["program"];
  /** What a sub-agent needs to run under these settings; null for what the main thread has. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
  /** Told of everything a sub-agent does; the same for the same id. Without it nobody watches. */
  watch?(id: string): Watching;
}

export interface Watching {
  emit: Emit;
  onProgress(progress: Progress): void;
}

/** How the log of a sub-agent is opened. */
export const logOptions = ({ store, scrub, watch }: TreeOptions, id: string): LogOptions => ({
  store,
  emit: watch?.(id).emit ?? (() => {}),
  ...(scrub && { scrub }),
});

/** A place among those that may be open; taken until it is released, which may be said twice. */
export interface Reserved {
  release(): void;
}

export interface Tree {
  readonly options: TreeOptions;
  readonly members: Map<string, Member>;
  /** The main thread as it runs now. */
  root(): Drive;
  rootIn(run: Drive): void;
  /** Takes a place for a member that is not there yet; null where all are taken. */
  reserve(): Reserved | null;
  /** Whether no more are open than may be. */
  isWithin(): boolean;
  /** Lets a member work on its open turn. */
  run(member: Member): void;
  stopBelow(above: Member | null, reason: unknown): void;
  /** Settles when nothing below works any more. */
  restBelow(above: Member | null): Promise<void>;
  /** What all others have spent of the budget of the turn under way, and this thread in earlier turns under it. */
  spentElsewhere(self: Member | null): Ledger;
}

/** `familyOf` is how a member sees the tree. */
export function openTree(options: TreeOptions, familyOf: (tree: Tree, self: Member) => Family): Tree {
  const members = new Map<string, Member>();
  let main: Drive | null = null;
  const reserved = new Set<Reserved>();
  const root = (): Drive => {
    if (!main) throw new Error("sub-agents were asked for before their main thread ran");
    return main;
  };
  const below = (above: Member | null) => [...members.values()].filter((member) => isBelow(member, above));
  const open = () => [...members.values()].filter((member) => !isClosed(member)).length + reserved.size;

  const tree: Tree = {
    options,
    members,
    root,
    rootIn(run) {
      main = run;
    },
    reserve() {
      if (open() >= options.mostOpen) return null;
      const place = { release: () => void reserved.delete(place) };
      reserved.add(place);
      return place;
    },
    isWithin: () => open() <= options.mostOpen,
    run(member) {
      member.stop = new AbortController();
      member.told = false;
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
    spentElsewhere: (self) =>
      main ? spentElsewhere(main.log.state, self?.log.state ?? null, [...members.values()]) : emptyLedger(),
  };

  async function work(member: Member): Promise<void> {
    try {
      const dependencies = await dependenciesOf(member, root(), options);
      await options.drive(member.log, { ...dependencies, family: familyOf(tree, member) }, member.stop.signal);
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

/** Where its log cannot be written either, the defect is told all the same. */
async function closeTurn({ log }: Member, message: string): Promise<void> {
  await log.write(...abandonTurn(log.state, { status: "failed", code: "internal", message })).catch(() => {});
}

/** Made from what the main thread has, at every depth: what a parent lets go is never its child's. */
async function dependenciesOf(member: Member, root: Drive, options: TreeOptions): Promise<Dependencies> {
  const { id, role, parent, log } = member;
  const { turn, frozen } = log.state;
  if (!turn) throw new Error(`sub-agent ${id} was to work outside a turn`);
  const { log: _, signal: __, ...inherited } = root;
  const own = (await options.dependenciesFor(turn.settings)) ?? inherited;
  const agent = { id, type: role, task: turn.prompt };
  return {
    ...own,
    // What it was not offered it does not have, whatever it calls.
    tools: own.tools.filter(({ name }) => frozen.tools.some((offered) => offered.name === name)),
    workspace: scopedWorkspace(own.workspace, id),
    outside: own.outside && scopedWorkspace(own.outside, id),
    onProgress: options.watch?.(id).onProgress ?? own.onProgress,
    steering: undefined,
    reservations: root.reservations,
    hooks: root.hooks?.forAgent(agent, parent?.id ?? root.log.state.threadId),
    // What shapes the final message of the main thread is not for its sub-agents.
    requestOptions: { ...own.requestOptions, outputSchema: undefined },
    answer: undefined,
  };
}

function spentElsewhere(root: ThreadState, self: ThreadState | null, members: Member[]): Ledger {
  const own = self ?? root;
  const others = [root, ...members.map(({ log }) => log.state)].filter((state) => state !== own);
  const paid = others.filter(({ account }) => account.turnId === root.account.turnId);
  const earlier = subtractLedger(own.account.ledger, own.turn?.ledger ?? own.account.ledger);
  return paid.map(({ account }) => account.ledger).reduce(addLedgers, earlier);
}
