// `platform audit verify`
import { resolve } from "node:path";
import type { Invocation } from "../args.ts";
import {
  type Head,
  headText,
  openExport,
  readAnchor,
  readHead,
  type Verdict,
  verifyLog,
  withStoredLog,
} from "../audit/index.ts";
import { openDatabase } from "../db/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { readKeyFile } from "../vault/index.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const expected = readExpected(invocation.text("expect"));
  const [file] = invocation.positionals;
  const verdict =
    file === undefined
      ? await verifyStored(invocation, program, expected)
      : await verifyLog(openExport(resolve(program.cwd, file)), expected);
  if (verdict.kind === "whole") {
    program.print(`whole: ${verdict.head.seq} entries, head ${headText(verdict.head)}\n`);
    return 0;
  }
  program.print(`BROKEN at entry ${verdict.seq}: ${verdict.reason}\n`);
  return 1;
}

function readExpected(text: string | undefined): Head[] {
  if (text === undefined) return [];
  const head = readHead(text);
  if (head) return [head];
  throw new UsageProblem(`--expect ${text} is no head: write it as platform audit verify printed it, NUMBER:HASH.`);
}

async function verifyStored(invocation: Invocation, program: Program, expected: Head[]): Promise<Verdict> {
  const { settings } = settingsFor(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    // Before the look into the database: a server may go on meanwhile.
    const anchor = await readAnchor(settings.dataDirectory, readKeyFile(settings.kekFile));
    const known = [...expected, ...("head" in anchor ? [anchor.head] : [])];
    const verdict = await withStoredLog(database.db, (log) => verifyLog(log, known));
    if (verdict.kind === "broken" || anchor.kind === "kept") return verdict;
    if (anchor.kind === "forged") return { kind: "broken", seq: verdict.head.seq, reason: forged };
    if (verdict.head.seq > 0 && expected.length === 0)
      program.log.warn("audit.unproved", { reason: reasons[anchor.kind] });
    return verdict;
  } finally {
    await database.close();
  }
}

const forged =
  "audit-head in the data directory was not written with the key-encryption key: it was replaced, and perhaps the log with it";

const reasons = {
  none: "No server has kept the head of the log in audit-head, or it was removed: whether its end was cut off cannot be told. Give a head that you kept with --expect.",
  unproved:
    "audit-head is of an earlier version, or the key file is not here: whether it was replaced cannot be told. Give a head that you kept with --expect.",
};
