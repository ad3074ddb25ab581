// `agentcli sandbox probe`: what can be enforced on this machine, on what back end, and what cannot.
import { resourceLimits } from "@agentcli/host";
import type { SandboxMode, SandboxReport } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import {
  type BackEnd,
  describeLimits,
  describeSandbox,
  type LimitsReport,
  probeAllBackEnds,
  type SandboxProbe,
  sandboxPolicy,
  type UnavailableBackEnd,
} from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { serverProgramIn } from "../../sandbox/probe.ts";
import { describeEnforcement } from "./enforcement.ts";

interface Report {
  backend: SandboxReport["backend"];
  tried: (BackEnd | UnavailableBackEnd)[];
  modes: SandboxReport[];
  limits: LimitsReport;
}

/** The amounts do not matter: only what would enforce them is reported. */
const typicalLimits = resourceLimits({ memory: "4g" });

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const report = await examine(program);
  await program.print(invocation.has("json") ? `${JSON.stringify(report, null, 2)}\n` : text(report));
  return exitCodes[report.backend === "none" ? "sandbox" : "completed"].code;
}

async function examine({ environment, directory }: Program): Promise<Report> {
  const tried = await probeAllBackEnds({
    ...environment.programs.search(),
    serverProgram: serverProgramIn(directory),
  });
  const backEnd = tried.find((rung): rung is BackEnd => "kind" in rung);
  const probe: SandboxProbe = backEnd
    ? { kind: "available", backEnd, shortfalls: [] }
    : { kind: "unavailable", reason: "", remedy: "" };
  const modes: SandboxMode[] = ["read-only", "workspace-write", "danger-full-access"];
  return {
    backend: backEnd?.kind ?? "none",
    tried,
    modes: modes.map((mode) => describeSandbox(sandboxPolicy({ mode, root: environment.cwd }), probe)),
    limits: await describeLimits(typicalLimits),
  };
}

const text = ({ tried, modes, limits }: Report): string =>
  `${[...tried.flatMap(rungText), ...modes.flatMap(modeText), ...limitRows(limits)].join("\n")}\n`;

function limitRows(limits: LimitsReport): string[] {
  const [first = "", ...rest] = describeEnforcement(limits);
  return [row("limits", first), ...rest.map((text) => row("", text))];
}

function rungText(rung: BackEnd | UnavailableBackEnd): string[] {
  if ("kind" in rung) return [row(rung.kind, `works${detail(rung)}`)];
  return [row(rung.backEnd, rung.reason), row("", rung.remedy)];
}

function detail(backEnd: BackEnd): string {
  switch (backEnd.kind) {
    case "bubblewrap":
      return ` (${backEnd.program}${backEnd.processes === "shared" ? ", with shared processes, because /proc is masked here" : ""})`;
    case "landlock":
      return ` (version ${backEnd.version} of the interface)`;
    case "seatbelt":
      return ` (${backEnd.program})`;
  }
}

function modeText({ mode, backend, fs, net, pid, syscalls, admits = [] }: SandboxReport): string[] {
  if (backend === "none") return [row(mode, "nothing is enforced")];
  const processes = pid ? "own processes" : "processes not isolated";
  const calls = syscalls ? "system calls filtered" : "system calls not filtered";
  const facts = `${backend}: files ${fs}, network ${net}, ${processes}, ${calls}`;
  return [row(mode, facts), ...admits.map((admission) => row("", `not enforced: ${admission}`))];
}

const row = (name: string, value: string): string => `${name.padEnd(18)}  ${value}`;
