// The back end of a run: the best that works here, if it is good enough for what was asked.
import type { BackEnd, SandboxPolicy, SandboxProbe } from "@agentcli/workspace";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import { knownProbe } from "./sandbox-probe.ts";

/** The least back end that will do, from --sandbox-min; when absent Landlock will, but for reading only. */
export type LeastBackEnd = "bubblewrap" | "landlock" | undefined;

/** Refuses where nothing, or nothing good enough, works; never goes on without. */
export async function chooseSandbox(
  policy: SandboxPolicy,
  least: LeastBackEnd,
  program: Program,
): Promise<SandboxProbe> {
  const probe = await knownProbe(policy, program);
  if (policy.mode === "danger-full-access") return probe;
  if (probe.kind === "unavailable") {
    throw new Problem("sandbox", `The ${policy.mode} sandbox is not available here. ${probe.reason} ${probe.remedy}`);
  }
  if (probe.backEnd.kind !== "landlock") return probe;
  const [shortfall] = probe.shortfalls;
  const why = `Only Landlock works here. ${shortfall?.reason ?? ""}`.trim();
  if (least === "bubblewrap" || (least === undefined && policy.mode === "workspace-write")) {
    throw new Problem("sandbox", `${why} ${refusal(policy, least)} ${shortfall?.remedy ?? ""}`.trim());
  }
  program.reporter.say(`sandbox: ${why} See agentcli sandbox probe for what it cannot stop.`);
  return probe;
}

const refusal = ({ mode }: SandboxPolicy, least: LeastBackEnd): string =>
  least === "bubblewrap"
    ? "--sandbox-min asks for bubblewrap."
    : `It cannot protect .git in ${mode}; to accept that use --sandbox-min landlock, to only read use --sandbox read-only.`;

export const backEndOf = (probe: SandboxProbe): { backEnd?: BackEnd } =>
  probe.kind === "available" ? { backEnd: probe.backEnd } : {};
