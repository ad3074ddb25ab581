// The sub-agents of one thread. Each is a separate thread in the same loop, never with more rights or budget than its parent.
import type { AgentState, Charges, Part } from "@agentcli/protocol";
import { addCharges, noCharges } from "../budget/charges.ts";
import { openLog } from "../log/log.ts";
import type { SubagentSupervisor, ThreadRun } from "../running.ts";
import { textOf } from "../state/messages.ts";
import { emptyThread } from "../state/state.ts";
import { childSettings, limitedTo, threadCreated } from "./child.ts";
import { depthOf, isAtRest, isClosed, type Member, restingMember, stateOf } from "./member.ts";
import { pickNickname } from "./nickname.ts";
import { restoreTree } from "./restore.ts";
import type { Refused, SpawnRequest, SubagentName, Subagents } from "./subagents.ts";
import { logOptions, openTree, type Slot, type Tree, type TreeOptions } from "./tree.ts";

export const superviseTree = (options: TreeOptions): SubagentSupervisor =>
  supervisorOf(openTree(options, supervisorOf), null);

/** How one thread sees the tree; `self` is null for the main thread. */
function supervisorOf(tree: Tree, self: Member | null): SubagentSupervisor {
  const { options, members } = tree;
  let run: ThreadRun | null = null;
  let isRestored = false;
  const parent = (): ThreadRun => {
    if (!run) throw new Error("sub-agents were used before their parent ran");
    return run;
  };
  const children = () => [...members.values()].filter((member) => member.parent === self);
  const agents = openAgents(tree, self, { parent, children });
  return {
    agents: async () => agents,
    isMain: self === null,
    newId: options.newId,
    async resume(parentRun) {
      run = parentRun;
      const { signal } = parentRun;
      signal.addEventListener("abort", () => tree.stopBelow(self, signal.reason), { once: true });
      if (self) return;
      tree.setRoot(parentRun);
      if (!isRestored) await restoreTree(tree);
      isRestored = true;
    },
    spentByOtherAgents: () => tree.spentByOtherAgents(self),
    charges: () => chargesOf(tree),
    overview: () =>
      children()
        .filter((member) => !isClosed(member))
        .map((member) => ({ ...nameOf(member), role: member.role, status: stateOf(member).status })),
    news() {
      const fresh = children().filter((member) => !member.reported && !isClosed(member) && isAtRest(member));
      for (const member of fresh) member.reported = true;
      return Object.fromEntries(fresh.map((member) => [member.id, stateOf(member)]));
    },
    end: () => tree.restBelow(self),
  };
}

/** Null before the main thread runs, and if no sub-agent asked a model for its turn. */
function chargesOf({ members, root }: Tree): Charges | null {
  const states = [...members.values()].map(({ log }) => log.state);
  const paid = states.filter(
    ({ account }) => account.ledger.requests > 0 && account.turnId === root().log.state.account.turnId,
  );
  return paid.length === 0 ? null : paid.map(({ account }) => account.charges).reduce(addCharges, noCharges());
}

const nameOf = ({ id, nickname }: Member): SubagentName => ({ id, nickname });

interface ThreadView {
  parent(): ThreadRun;
  children(): Member[];
}

// Over 60 lines because it is the view that one thread has of the tree, one method for each tool.
function openAgents(tree: Tree, self: Member | null, { parent, children }: ThreadView): Subagents {
  const { options, members } = tree;
  const find = (target: string) =>
    children().find(({ id }) => id === target) ?? children().find(({ nickname }) => nickname === target);
  const paidBy = () => tree.root().log.state.account.turnId;

  async function create(request: SpawnRequest, slot: Slot): Promise<SubagentName | Refused> {
    const { id, role, input } = request;
    const { hooks, log: parentLog } = parent();
    const verdict = await hooks?.spawning({ id, type: role.name, task: textOf(input) }, parent());
    if (verdict?.kind === "refused") return { refused: verdict.reason };
    const settings = childSettings(parentLog.state, request, options);
    const nickname = pickNickname(role, (each) => [...members.values()].some((member) => member.nickname === each));
    const { program, maxDepth } = options;
    const log = openLog(emptyThread(id), logOptions(options, id));
    const fresh = { closed: false, reported: false, turnIds: new Set([id]) };
    const member = restingMember({ id, role: role.name, nickname, parent: self, log, ...fresh });
    members.set(id, member);
    slot.release();
    const background = [...request.background, ...(verdict?.context ?? [])];
    const maySpawn = depthOf(member) < maxDepth;
    await log.write(threadCreated(parentLog.state, { id, nickname, role, settings, program, background, maySpawn }), {
      type: "turn.begun",
      turnId: id,
      input,
      settings,
      paidBy: paidBy(),
    });
    return start(member);
  }

  async function begin(member: Member, turnId: string, input: Part[]): Promise<SubagentName> {
    const recorded = member.log.state.settings;
    if (!recorded) throw new Error(`sub-agent ${member.id} has no settings`);
    const settings = limitedTo(parent().log.state, recorded);
    member.turnIds.add(turnId);
    await member.log.write({ type: "turn.begun", turnId, input, settings, paidBy: paidBy() });
    return start(member);
  }

  function start(member: Member): SubagentName {
    tree.run(member);
    const { signal } = parent();
    if (signal.aborted) member.stop.abort(signal.reason);
    return member;
  }

  return {
    roles: options.roles,
    newId: options.newId,
    async spawn(request) {
      const existing = members.get(request.id);
      if (existing) return existing.turnIds.size > 0 ? existing : begin(existing, request.id, request.input);
      if (depthOf(self) >= options.maxDepth) return { refused: tooDeep(options.maxDepth) };
      const slot = tree.reserve();
      if (!slot) return { refused: tooMany(options.maxOpen) };
      try {
        return await create(request, slot);
      } finally {
        slot.release();
      }
    },
    async send({ target, input, turnId, when }) {
      const member = find(target);
      if (!member || isClosed(member)) return { refused: unknownAgent(target) };
      if (member.turnIds.has(turnId)) return member;
      if (when === "now") member.stop.abort({ end: { status: "cancelled", reason: "Interrupted by its parent." } });
      await member.resting;
      return isClosed(member) ? { refused: unknownAgent(target) } : begin(member, turnId, input);
    },
    states(targets) {
      const states = targets.map((target): [string, AgentState] => {
        const member = find(target);
        if (member && isAtRest(member)) member.reported = true;
        return member ? [member.id, stateOf(member)] : [target, { status: "not_found", message: null }];
      });
      return Object.fromEntries(states);
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
      if (tree.isWithinLimit()) return member;
      member.closed = before;
      return { refused: tooMany(options.maxOpen) };
    },
  };
}

const tooMany = (max: number): string =>
  `There are already ${max} open agents, the limit for this run. Wait for one with wait_agent and close it with close_agent.`;

const tooDeep = (max: number): string =>
  `Agents may be ${max} deep at most (agents.max_depth), so this one cannot have agents of its own.`;

const unknownAgent = (target: string): string => `There is no open agent ${target}.`;
