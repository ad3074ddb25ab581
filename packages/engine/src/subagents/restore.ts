// Brings the sub-agents of a thread back as their logs tell, at all levels, before anything is asked of a model.
import type { TurnSettings } from "@agentcli/protocol";
import { openLog, readThread } from "../log.ts";
import type { StoredRecord } from "../ports.ts";
import { abandonTurn } from "../turn.ts";
import { heldTo } from "./child.ts";
import type { KnownAgent } from "./known.ts";
import { isClosed, type Member, restingMember } from "./member.ts";
import { logOptions, parentEnded, type Tree } from "./tree.ts";

export async function restoreTree(tree: Tree): Promise<void> {
  await loadBelow(null, tree);
  await goOnBelow(null, tree);
}

const threadOf = (member: Member | null, tree: Tree) => (member?.log ?? tree.root().log).state;

/** The whole tree, closed members too: what they have spent counts from the first request on. */
async function loadBelow(parent: Member | null, tree: Tree): Promise<void> {
  for (const [id, known] of threadOf(parent, tree).agents) {
    const member = tree.members.get(id) ?? (await load(id, known, parent, tree));
    if (!member) continue;
    tree.members.set(id, member);
    await loadBelow(member, tree);
  }
}

/** Null for one that was never written down, and for one that belongs to another thread, as after a fork. */
async function load(id: string, known: KnownAgent, parent: Member | null, tree: Tree): Promise<Member | null> {
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
    ...known,
  });
}

const turnsIn = (records: StoredRecord[]): string[] =>
  records.flatMap(({ record }) => (record.type === "turn.begun" ? [record.turnId] : []));

/** A turn goes on when the turn of the main thread that pays for it does; any other was cut off with its parent. */
async function goOnBelow(parent: Member | null, tree: Tree): Promise<void> {
  const above = threadOf(parent, tree);
  for (const member of [...tree.members.values()].filter((each) => each.parent === parent)) {
    const { state } = member.log;
    const goesOn = above.turn && !isClosed(member) && state.account.turnId === tree.root().log.state.turn?.turnId;
    if (state.turn && !goesOn) await member.log.write(...abandonTurn(state, parentEnded));
    if (state.turn) await holdTo(heldTo(above, state.turn.settings), member);
    await goOnBelow(member, tree);
    if (state.turn) tree.run(member);
  }
}

/** The parent may have been given less, or more to spend, than when it was cut off. */
async function holdTo(settings: TurnSettings, { log }: Member): Promise<void> {
  const known = log.state.turn?.settings;
  const keys = Object.keys({ ...known, ...settings }) as (keyof TurnSettings)[];
  if (keys.every((key) => JSON.stringify(known?.[key]) === JSON.stringify(settings[key]))) return;
  await log.write({ type: "noted", kind: "policy", data: { settings } });
}
