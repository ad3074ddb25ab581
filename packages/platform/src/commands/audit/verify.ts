// `platform audit verify`
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { openDatabase } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { readKeyFile } from "../../foundation/vault/index.ts";
import {
  type Head,
  headText,
  openExport,
  readAnchor,
  readHead,
  type Verdict,
  verifyLog,
  withStoredLog,
} from "../../identity/audit/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

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
  throw new CommandError(
    "usage",
    `Invalid --expect ${text}: expected NUMBER:HASH, as platform audit verify prints it.`,
  );
}

async function verifyStored(invocation: Invocation, program: Program, expected: Head[]): Promise<Verdict> {
  const { settings } = settingsFor(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    // Read before the database: a server may append entries in the meantime.
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
  "audit-head in the data directory was not written with the key-encryption key: it was replaced, and the log may have been too";

const reasons = {
  none: "No server has written the head of the log to audit-head, or it was removed: a truncated log cannot be detected. Pass a head that you kept with --expect.",
  unproved:
    "audit-head is from an earlier version, or the key file is missing: a replaced audit-head cannot be detected. Pass a head that you kept with --expect.",
};
