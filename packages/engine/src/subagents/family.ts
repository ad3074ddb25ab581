// The sub-agents of one thread: threads of their own under the same loop, never with more rights or money than their parent.
import type { AgentState, Part } from "@agentcli/protocol";
import type { Ledger } from "../budget.ts";
import { openLog } from "../log.ts";
import type { Drive } from "../running.ts";
import { emptyThread, wordsOf } from "../state.ts";
import { childSettings, heldTo, threadCreated, type Wanted } from "./child.ts";
import { depthOf, isAtRest, isClosed, type Member, restingMember, stateOf } from "./member.ts";
import { pickNickname } from "./nickname.ts";
import { restoreTree } from "./restore.ts";
import type { AgentRole } from "./role.ts";
import { logOptions, openTree, type Reserved, type Tree, type TreeOptions } from "./tree.ts";

export interface SpawnRequest extends Wanted {
  /** Of the child and of its turn; the same request with the same id makes no second child. */
  id: string;
  input: Part[];
  /** Told to the child before its task. */
  background: string[];
}

export interface SendRequest {
  /** Id or nickname of a child. */
  target: string;
  input: Part[];
  /** The same request with the same id gives no second turn. */
  turnId: string;
  /** `now` stops what the child does. */
  when: "now" | "when-it-rests";
}

export type Refused = { refused: string };
export type Found = { id: string; nickname: string };

/** How one thread sees the tree: its own children, by id or nickname. */
export interface Family {
  readonly roles: AgentRole[];
  /** Whether it is the main thread that has these children, not a sub-agent. */
  readonly isMain: boolean;
  /** Called when the thread begins to run: what its log knows of children is brought back. They stop when it is stopped. */
  takeUp(run: Drive): Promise<void>;
  newId(): string;
  spawn(request: SpawnRequest, parent: Drive): Promise<Found | Refused>;
  /** Gives a child another turn. */
  send(request: SendRequest, parent: Drive): Promise<Found | Refused>;
  /** By id; what nobody is called by is not found under that name. */
  states(targets: string[]): Record<string, AgentState>;
  /** Settles when one of these children rests or is not known, or on abort. */
  anyResting(targets: string[], signal: AbortSignal): Promise<void>;
  /** With all below it. */
  close(target: string): Promise<void>;
  reopen(target: string): Found | Refused;
  spentElsewhere(): Ledger;
  /** Children that rest and that the thread has not heard of yet; each is told once. */
  news(): Record<string, AgentState>;
  /** Stops all of them. */
  end(): Promise<void>;
}

export const openFamily = (options: TreeOptions): Family => familyOf(openTree(options, familyOf), null);

// Over 60 lines because it is the view of one table that one thread has, each line of it one thing a tool can do.
function familyOf(tree: Tree, self: Member | null): Family {
  const { options, members } = tree;
  const children = () => [...members.values()].filter((member) => member.parent === self);
  const find = (target: string) =>
    children().find(({ id }) => id === target) ?? children().find(({ nickname }) => nickname === target);
  const paidBy = () => tree.root().log.state.account.turnId;

  let isRestored = false;

  async function create(request: SpawnRequest, parent: Drive, place: Reserved): Promise<Found | Refused> {
    const { id, role, input } = request;
    const told = await parent.hooks?.spawning({ id, type: role.name, task: wordsOf(input) }, parent);
    if (told?.kind === "refused") return { refused: told.reason };
    const settings = childSettings(parent.log.state, request, options);
    const nickname = pickNickname(role, (each) => [...members.values()].some((member) => member.nickname === each));
    const { program, maxDepth } = options;
    const log = openLog(emptyThread(id), logOptions(options, id));
    const known = { closed: false, told: false, turnIds: new Set([id]) };
    const member = restingMember({ id, role: role.name, nickname, parent: self, log, ...known });
    members.set(id, member);
    place.release();
    const background = [...request.background, ...(told?.context ?? [])];
    const mayHaveAgents = depthOf(member) < maxDepth;
    await log.write(
      threadCreated(parent.log.state, { id, nickname, role, settings, program, background, mayHaveAgents }),
      { type: "turn.begun", turnId: id, input, settings, paidBy: paidBy() },
    );
    return start(member, parent);
  }

  async function begin(member: Member, turnId: string, input: Part[], parent: Drive): Promise<Found> {
    const recorded = member.log.state.settings;
    if (!recorded) throw new Error(`sub-agent ${member.id} has no settings`);
    const settings = heldTo(parent.log.state, recorded);
    member.turnIds.add(turnId);
    await member.log.write({ type: "turn.begun", turnId, input, settings, paidBy: paidBy() });
    return start(member, parent);
  }

  function start(member: Member, parent: Drive): Found {
    tree.run(member);
    if (parent.signal.aborted) member.stop.abort(parent.signal.reason);
    return member;
  }

  return {
    roles: options.roles,
    isMain: self === null,
    newId: options.newId,
    async takeUp(run) {
      run.signal.addEventListener("abort", () => tree.stopBelow(self, run.signal.reason), { once: true });
      if (self) return;
      tree.rootIn(run);
      if (!isRestored) await restoreTree(tree);
      isRestored = true;
    },
    async spawn(request, parent) {
      const known = members.get(request.id);
      if (known) return known.turnIds.size > 0 ? known : begin(known, request.id, request.input, parent);
      if (depthOf(self) >= options.maxDepth) return { refused: tooDeep(options.maxDepth) };
      const place = tree.reserve();
      if (!place) return { refused: tooMany(options.mostOpen) };
      try {
        return await create(request, parent, place);
      } finally {
        place.release();
      }
    },
    async send({ target, input, turnId, when }, parent) {
      const member = find(target);
      if (!member || isClosed(member)) return { refused: unknownAgent(target) };
      if (member.turnIds.has(turnId)) return member;
      if (when === "now") member.stop.abort({ end: { status: "cancelled", reason: "Interrupted by its parent." } });
      await member.resting;
      return isClosed(member) ? { refused: unknownAgent(target) } : begin(member, turnId, input, parent);
    },
    states(targets) {
      const found = targets.map((target): [string, AgentState] => {
        const member = find(target);
        if (member && isAtRest(member)) member.told = true;
        return member ? [member.id, stateOf(member)] : [target, { status: "not_found", message: null }];
      });
      return Object.fromEntries(found);
    },
    async anyResting(targets, signal) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([aborted, ...targets.map((target) => find(target)?.resting)]);
    },
    async close(target) {
      const member = find(target);
      if (!member) return;
      member.closed = true;
      member.stop.abort({ end: { status: "cancelled", reason: "Closed by its parent." } });
      await member.resting;
    },
    reopen(target) {
      const member = find(target);
      if (!member) return { refused: unknownAgent(target) };
      const before = member.closed;
      member.closed = false;
      if (tree.isWithin()) return member;
      member.closed = before;
      return { refused: tooMany(options.mostOpen) };
    },
    spentElsewhere: () => tree.spentElsewhere(self),
    news() {
      const fresh = children().filter((member) => !member.told && !isClosed(member) && isAtRest(member));
      for (const member of fresh) member.told = true;
      return Object.fromEntries(fresh.map((member) => [member.id, stateOf(member)]));
    },
    end: () => tree.restBelow(self),
  };
}

const tooMany = (most: number): string =>
  `There are ${most} open agents already, which is the most, those of other agents included. Wait for one with wait_agent and close it with close_agent.`;

const tooDeep = (most: number): string =>
  `Agents may be ${most} deep at most (agents.max_depth), so this one cannot have agents of its own.`;

const unknownAgent = (target: string): string => `There is no open agent ${target}.`;
