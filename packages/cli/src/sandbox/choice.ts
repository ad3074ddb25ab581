// The back end of a run: the best that works here, if it is sufficient for the request.
import { CommandError } from "@agentcli/command-line";
import type { MinBackEnd } from "@agentcli/host";
import type { BackEnd, SandboxPolicy, SandboxProbe } from "@agentcli/workspace";
import type { Program } from "../program.ts";
import { knownProbe } from "./probe.ts";

/** Refuses if no sufficient back end works; never continues without one. */
export async function chooseSandbox(policy: SandboxPolicy, least: MinBackEnd, program: Program): Promise<SandboxProbe> {
  const probe = await knownProbe(policy, program);
  if (policy.mode === "danger-full-access") return probe;
  if (probe.kind === "unavailable") {
    throw new CommandError(
      "sandbox",
      `The ${policy.mode} sandbox is not available here. ${probe.reason} ${probe.remedy}`,
    );
  }
  if (probe.backEnd.kind !== "landlock") return probe;
  const [shortfall] = probe.shortfalls;
  const why = `Only Landlock works here. ${shortfall?.reason ?? ""}`.trim();
  if (least === "bubblewrap" || (least === undefined && policy.mode === "workspace-write")) {
    throw new CommandError("sandbox", `${why} ${refusal(policy, least)} ${shortfall?.remedy ?? ""}`.trim());
  }
  program.reporter.log(`sandbox: ${why} See agentcli sandbox probe for what it cannot stop.`);
  return probe;
}

const refusal = ({ mode }: SandboxPolicy, least: MinBackEnd): string =>
  least === "bubblewrap"
    ? "--sandbox-min asks for bubblewrap."
    : `It cannot protect .git in ${mode}. To accept that, use --sandbox-min landlock. If the run only has to read, use --sandbox read-only.`;

export const backEndOf = (probe: SandboxProbe): { backEnd?: BackEnd } =>
  probe.kind === "available" ? { backEnd: probe.backEnd } : {};
