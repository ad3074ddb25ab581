// What a session file says was asked of models and what that cost, line by line, whatever else is in it.
import { closeSync, readSync } from "node:fs";
import { openTrusted } from "@agentcli/host/session-files";
import type { RecordOf, SessionLine, Tags, ThreadRecord, Usage } from "@agentcli/protocol";

/** One request to a model. */
export interface Charge {
  at: string;
  model: string;
  usage: Usage;
  /** Null where the price was not known. */
  costUsd: number | null;
  turnId: string;
  tags: Tags;
}

export interface SessionCharges {
  charges: Charge[];
  threadId: string;
  /** The thread that started this one as a sub-agent. */
  parentId: string | null;
  /** Those of its newest turn. */
  tags: Tags;
  damagedLines: number;
}

export function readCharges(path: string): SessionCharges {
  const read: SessionCharges = { charges: [], threadId: "", parentId: null, tags: {}, damagedLines: 0 };
  let turnId = "";
  for (const line of sessionLines(path, reporting)) {
    if (!line) read.damagedLines += 1;
    else if (line.record.type === "thread.created") {
      const { threadId, parentId = null, tags = {} } = line.record;
      Object.assign(read, { threadId, parentId, tags });
    } else if (line.record.type === "turn.begun") {
      turnId = line.record.turnId;
      read.tags = line.record.tags ?? {};
    } else {
      const charge = chargeOf(line);
      if (charge) read.charges.push({ ...charge, turnId, tags: read.tags });
    }
  }
  return read;
}

const reporting = new Set(["thread.created", "turn.begun", "model.replied", "context.compacted", "noted hook"]);

/** Lines of these types, `noted` with its kind; null for a damaged one. */
export function* sessionLines(path: string, types: Set<string>): Generator<SessionLine | null> {
  for (const bytes of wholeLines(path)) if (isOfType(bytes, types)) yield parse(bytes);
}

/** Outputs of tools are most of a session: what a line is shows in its first bytes. A line of another form is parsed. */
function isOfType(line: Buffer, types: Set<string>): boolean {
  const start = line.toString("latin1", 0, 128);
  const [, type, kind] =
    /^\{"v":1,"seq":\d+,"at":"[^"]*","record":\{"type":"([^"]*)"(?:,"kind":"([^"]*)")?/.exec(start) ?? [];
  if (type === undefined) return line.length > 0;
  return types.has(kind === undefined ? type : `${type} ${kind}`);
}

function chargeOf({ at, record }: SessionLine): Omit<Charge, "turnId" | "tags"> | null {
  const paid = paidIn(record);
  return paid && { at, model: paid.model, usage: paid.usage, costUsd: paid.costUsd ?? null };
}

/** A request that answered a hook is paid for like any other. */
function paidIn(record: ThreadRecord): Pick<RecordOf<"model.replied">, "model" | "usage" | "costUsd"> | null {
  if (record.type === "model.replied" || record.type === "context.compacted") return record;
  if (record.type !== "noted" || record.kind !== "hook") return null;
  return record.data && "usage" in record.data ? record.data : null;
}

function parse(line: Buffer): SessionLine | null {
  try {
    const parsed = JSON.parse(line.toString("utf8"));
    return isSound(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** As much as is added up. */
function isSound(line: Partial<SessionLine> | null): line is SessionLine {
  const record = line?.record;
  if (typeof record?.type !== "string" || Number.isNaN(Date.parse(String(line?.at)))) return false;
  const paid = paidIn(record);
  if (!paid) return true;
  const { model, usage, costUsd } = paid;
  const isPriced = costUsd === undefined || costUsd === null || Number.isFinite(costUsd);
  return typeof model === "string" && isPriced && isUsage(usage);
}

const isUsage = (usage: Usage | undefined): boolean =>
  [usage?.inputTokens, usage?.cachedInputTokens, usage?.cacheWriteInputTokens, usage?.outputTokens].every(
    Number.isFinite,
  );

const blockBytes = 1024 * 1024;

/** What follows the last line end is still being written. */
function* wholeLines(path: string): Generator<Buffer> {
  const file = openTrusted(path);
  try {
    let begun: Buffer[] = [];
    for (;;) {
      const block = Buffer.allocUnsafe(blockBytes);
      const bytes = block.subarray(0, readSync(file, block, 0, blockBytes, null));
      if (bytes.length === 0) return;
      let start = 0;
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
        yield Buffer.concat([...begun, bytes.subarray(start, end)]);
        begun = [];
        start = end + 1;
      }
      begun.push(bytes.subarray(start));
    }
  } finally {
    closeSync(file);
  }
}
