// Restores the sub-agents of a thread from their logs, at all levels, before the first request to a model.
import type { TurnSettings } from "@agentcli/protocol";
import { abandonTurn } from "../abandon-turn.ts";
import { openLog, readThread } from "../log/log.ts";
import type { StoredRecord } from "../ports.ts";
import type { SubagentRecord } from "../state/known-agents.ts";
import { limitedTo } from "./child.ts";
import { isClosed, type Member, restingMember } from "./member.ts";
import { logOptions, parentEnded, type Tree } from "./tree.ts";

export async function restoreTree(tree: Tree): Promise<void> {
  await loadBelow(null, tree);
  await resumeBelow(null, tree);
}

const threadOf = (member: Member | null, tree: Tree) => (member?.log ?? tree.root().log).state;

/** The whole tree, closed members too: their spending counts from the first request on. */
async function loadBelow(parent: Member | null, tree: Tree): Promise<void> {
  for (const [id, record] of threadOf(parent, tree).agents) {
    const member = tree.members.get(id) ?? (await load(id, record, parent, tree));
    if (!member) continue;
    tree.members.set(id, member);
    await loadBelow(member, tree);
  }
}

/** Null for one that was never stored, and for one that belongs to another thread, as after a fork. */
async function load(id: string, record: SubagentRecord, parent: Member | null, tree: Tree): Promise<Member | null> {
  const { store } = tree.options;
  const { state, records } = await readThread(store, id);
  const created = records[0]?.record;
  if (created?.type !== "thread.created" || created.parentId !== threadOf(parent, tree).threadId) return null;
  return restingMember({
    id,
    role: created.role ?? "default",
    nickname: created.nickname ?? id,
    parent,
    log: openLog(state, logOptions(tree.options, id)),
    turnIds: new Set(turnsIn(records)),
    ...record,
  });
}

const turnsIn = (records: StoredRecord[]): string[] =>
  records.flatMap(({ record }) => (record.type === "turn.begun" ? [record.turnId] : []));

/** A turn is resumed when the main turn that pays for it is; any other ended with its parent. */
async function resumeBelow(parent: Member | null, tree: Tree): Promise<void> {
  const above = threadOf(parent, tree);
  for (const member of [...tree.members.values()].filter((each) => each.parent === parent)) {
    const { state } = member.log;
    const isResumed = above.turn && !isClosed(member) && state.account.turnId === tree.root().log.state.turn?.turnId;
    if (state.turn && !isResumed) await member.log.write(...abandonTurn(state, parentEnded));
    if (state.turn) await updateSettings(limitedTo(above, state.turn.settings), member);
    await resumeBelow(member, tree);
    if (state.turn) tree.run(member);
  }
}

/** The parent may have other settings, such as a larger budget, than when it was interrupted. */
async function updateSettings(settings: TurnSettings, { log }: Member): Promise<void> {
  const recorded = log.state.turn?.settings;
  const keys = Object.keys({ ...recorded, ...settings }) as (keyof TurnSettings)[];
  if (keys.every((key) => JSON.stringify(recorded?.[key]) === JSON.stringify(settings[key]))) return;
  await log.write({ type: "noted", kind: "policy", data: { settings } });
}
