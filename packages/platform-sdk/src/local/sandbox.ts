// The sandbox of a local run: around the directories of the agent, or none.
import { join } from "node:path";
import { resourceLimits, type Sandbox, sandboxFor } from "@agentcli/host";
import type { SandboxMode } from "@agentcli/protocol";
import {
  environmentPolicy,
  hiddenByDefault,
  hiddenByVariables,
  probeSandbox,
  type SandboxPolicy,
  type SandboxProbe,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { ConfigurationError } from "../errors.ts";
import type { Machine } from "./machine.ts";
import type { SandboxLimits } from "./options.ts";
import { userSkills } from "./sources/index.ts";

export interface SandboxRequest {
  cwd: string;
  dirs: string[];
  /** Cannot be changed, also where the rest can. */
  protectedPaths?: string[];
  machine: Machine;
  limits: SandboxLimits;
  /** Values that commands must not find in their environment. */
  secrets: string[];
}

export async function openSandbox(mode: SandboxMode, request: SandboxRequest): Promise<Sandbox> {
  const { machine, secrets } = request;
  const policy = policyOf(mode, request);
  const probe = await chooseSandbox(policy, machine);
  const environment = environmentPolicy({ never: ["PLATFORM_API_KEY"] });
  return sandboxFor(policy, probe, {
    serverProgram: machine.serverProgram,
    env: () => toolEnvironment(machine.variables, { home: machine.userHome, policy: environment, secrets }),
    environmentPolicy: environment,
    warmLoginShell: machine.shell,
    cacheDirectory: join(machine.sdkHome, "cache", "builds"),
    unfinishedRuns: unfinishedRuns(machine),
    limits: resourceLimits(request.limits),
    newId: machine.newId,
  });
}

/** Where runs note that their workspace is still to be searched for new repositories. */
export const unfinishedRuns = ({ sdkHome }: Machine): string => join(sdkHome, "unfinished-runs");

/** Throws where the sandbox is not available; never goes on without one. */
export async function chooseSandbox(
  { mode, root, writableRoots }: Pick<SandboxPolicy, "mode" | "root" | "writableRoots">,
  machine: Machine,
): Promise<SandboxProbe> {
  if (mode === "danger-full-access") return { kind: "unavailable", reason: "not used", remedy: "" };
  const untrusted = [root, ...writableRoots];
  const { variables, serverProgram, probes } = machine;
  const probe = await probes(JSON.stringify(untrusted), () =>
    probeSandbox({ path: variables.PATH ?? "", untrusted, serverProgram }),
  );
  if (probe.kind === "unavailable") throw unavailable(mode, `${probe.reason} ${probe.remedy}`);
  const [shortfall] = probe.shortfalls;
  if (probe.backEnd.kind === "landlock" && mode === "workspace-write")
    throw unavailable(mode, `Only Landlock works here, which cannot protect .git. ${shortfall?.remedy ?? ""}`);
  return probe;
}

const unavailable = (mode: SandboxMode, why: string): ConfigurationError =>
  new ConfigurationError(`The ${mode} sandbox is not available here. ${why}`.trim(), {
    code: "sandbox_unavailable",
    operation: "agent.send",
  });

export function policyOf(mode: SandboxMode, request: Omit<SandboxRequest, "secrets" | "limits">): SandboxPolicy {
  const { cwd, dirs, protectedPaths = [], machine } = request;
  const { userHome, settingsHome, sdkHome, variables } = machine;
  return sandboxPolicy({
    mode,
    root: cwd,
    writableRoots: mode === "workspace-write" ? dirs : [],
    protectedPaths,
    ownDirectories: [settingsHome, sdkHome],
    hidden: [
      settingsHome,
      ...hiddenByDefault(userHome, sdkHome),
      ...hiddenByVariables(variables, { home: userHome, roots: [cwd, ...dirs] }),
    ],
    shown: userSkills(machine).map(({ path }) => path),
  });
}
