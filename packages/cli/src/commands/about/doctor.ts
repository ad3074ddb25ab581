// `agentcli doctor`: would a run start here, and if not, how to fix it?
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { runOptions } from "../../config/run-options.ts";
import { examine } from "../../doctor/examine.ts";
import type { Finding } from "../../doctor/finding.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const findings = await examine(runOptions(invocation), program);
  const ok = findings.every(({ status }) => status !== "fail");
  if (invocation.has("json")) await program.print(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
  else await program.print(`${findings.map(text).join("\n")}\n${conclusion(ok)}\n`);
  return exitCodes[ok ? "completed" : "failed"].code;
}

function text(finding: Finding): string {
  const lines = `${finding.status.padEnd(4)}  ${finding.name.padEnd(13)}  ${finding.detail}`;
  return finding.status === "ok" ? lines : `${lines}\n${" ".repeat(6)}to fix: ${finding.mend}`;
}

const conclusion = (ok: boolean): string =>
  ok ? "agentcli exec would start here." : "agentcli exec would not start here.";
