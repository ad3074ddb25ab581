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
    const anchor = await readAnchor(settings.dataDirectory);
    const known = [...expected, ...(anchor ? [anchor] : [])];
    return await withStoredLog(database.db, (log) => verifyLog(log, known));
  } finally {
    await database.close();
  }
}
