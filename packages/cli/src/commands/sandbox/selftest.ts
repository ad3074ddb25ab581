// `agentcli sandbox selftest`: tries to break out of the sandbox of this machine and says of each attempt how it went.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { type AttemptResult, runSelftest } from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { freshProbe, serverProgramIn } from "../../sandbox/probe.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { environment, directory } = program;
  const probe = await freshProbe({ root: environment.cwd, writableRoots: [] }, program);
  if (probe.kind === "unavailable") throw new CommandError("sandbox", `${probe.reason} ${probe.remedy}`);
  const findings: AttemptResult[] = [];
  const serverProgram = serverProgramIn(directory);
  const attempts = runSelftest({ backEnd: probe.backEnd, serverProgram, variables: environment.variables });
  for await (const finding of attempts) {
    findings.push(finding);
    await program.print(line(finding, invocation));
    if (program.signal.aborted) break;
  }
  const count = (outcome: AttemptResult["outcome"]) => findings.filter((finding) => finding.outcome === outcome).length;
  const [held, admitted, escaped] = [count("held"), count("admitted"), count("ESCAPED")];
  program.reporter.log(`${probe.backEnd.kind}: ${held} held, ${admitted} admitted, ${escaped} escaped.`);
  return exitCodes[escaped === 0 ? "completed" : "failed"].code;
}

function line(finding: AttemptResult, { has }: Invocation): string {
  if (has("json")) return `${JSON.stringify(finding)}\n`;
  return `${finding.outcome.padEnd(8)}  ${finding.name}\n`;
}
