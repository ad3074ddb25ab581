// `platform audit verify`
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import type { Settings } from "../../foundation/config/index.ts";
import { countRunningServers, type Database, openDatabase } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { findKey } from "../../foundation/vault/index.ts";
import {
  findUnexplained,
  findUnproved,
  findUnprovedInFile,
  findUnrecorded,
  type Head,
  headText,
  openExport,
  readAnchor,
  readHead,
  readUnlocked,
  type UnprovedPart,
  type Verdict,
  verifyLog,
  withStoredLog,
} from "../../identity/audit/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

interface Result {
  verdict: Verdict;
  unproved: UnprovedPart[];
  /** Parts of which the database does not record changes; of a file unknown. */
  unrecorded?: string[];
}

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const expected = readExpected(invocation.text("expect"));
  const [file] = invocation.positionals;
  const {
    verdict,
    unproved,
    unrecorded = [],
  } = file === undefined
    ? await verifyStored(settingsFor(invocation, program).settings, expected)
    : await verifyFile(resolve(program.cwd, file), expected);
  for (const part of unrecorded)
    program.print(
      `NOT RECORDED: ${part}. Changes since are not in the log: restore a backup, or find out who did it.\n`,
    );
  if (verdict.kind === "broken") {
    program.print(`BROKEN at entry ${verdict.seq}: ${verdict.reason}\n`);
    return 1;
  }
  const { seq } = verdict.head;
  if (seq === 0 && file === undefined)
    program.print("UNPROVED: the log is empty: no server has used this database and data directory. Check --data.\n");
  for (const { from, to, reason } of unproved)
    program.print(`UNPROVED: entries ${from} to ${to} of ${seq}: ${reason}\n`);
  if (unproved.length + unrecorded.length > 0 || (seq === 0 && file === undefined)) return 1;
  program.print(`whole: ${seq} entries, head ${headText(verdict.head)}\n`);
  return 0;
}

function readExpected(text: string | undefined): Head[] {
  if (text === undefined) return [];
  const head = readHead(text);
  if (head) return [head];
  throw new CommandError(
    "usage",
    `Invalid --expect ${text}: expected NUMBER:HASH, as platform audit verify prints it.`,
  );
}

async function verifyFile(path: string, expected: Head[]): Promise<Result> {
  const verdict = await verifyLog(openExport(path), expected);
  return { verdict, unproved: verdict.kind === "whole" ? findUnprovedInFile(verdict.head.seq, expected) : [] };
}

async function verifyStored(settings: Settings, expected: Head[]): Promise<Result> {
  const database = await openDatabase(settings, silentLog);
  try {
    const unrecorded = await readUnlocked(database.db, findUnrecorded);
    const result = await verifyEntries(database, settings, expected);
    // A broken log explains nothing, and may not even be readable.
    if (result.verdict.kind === "whole") unrecorded.push(...(await readUnlocked(database.db, findUnexplained)));
    return { ...result, unrecorded };
  } finally {
    await database.close();
  }
}

async function verifyEntries(database: Database, settings: Settings, expected: Head[]): Promise<Result> {
  const result = await verifyOnce(database, settings, { expected });
  const { verdict, unproved } = result;
  if (verdict.kind === "broken" || unproved.length === 0 || !(await countRunningServers(database.db))) return result;
  await waitForAnchor(database, settings, verdict.head.seq);
  return verifyOnce(database, settings, { expected, upTo: verdict.head.seq });
}

const waitMs = 10_000;

/** A running server continues the anchor about a second after an entry. */
async function waitForAnchor({ db }: Database, settings: Settings, seq: number): Promise<void> {
  const key = await findKey(db, settings);
  for (const end = Date.now() + waitMs; Date.now() < end; await pause(100)) {
    const anchor = await readAnchor(settings.dataDirectory, key);
    if (anchor.kind !== "kept" || anchor.head.seq >= seq) return;
  }
}

interface Request {
  expected: Head[];
  /** Later entries need not be proved yet. */
  upTo?: number;
}

async function verifyOnce({ db }: Database, settings: Settings, { expected, upTo }: Request): Promise<Result> {
  // Read before the database: a server may append entries in the meantime.
  const anchor = await readAnchor(settings.dataDirectory, await findKey(db, settings));
  const known = [...expected, ...("head" in anchor ? [anchor.head] : [])];
  const verdict = await withStoredLog(db, (log) => verifyLog(log, known));
  if (verdict.kind === "broken") return { verdict, unproved: [] };
  const { seq } = verdict.head;
  if (anchor.kind === "forged") return { verdict: { kind: "broken", seq, reason: forged }, unproved: [] };
  return { verdict, unproved: findUnproved(Math.min(seq, upTo ?? seq), anchor, expected) };
}

const forged =
  "audit-head in the data directory was not written with the key-encryption key: it was replaced, and the log may have been too";
