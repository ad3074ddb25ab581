// Where commands run and files change: opened when first needed, its enforcement known from the start.
import { isAbsolute, join, resolve } from "node:path";
import type { Config, SandboxReport, TurnSettings } from "@agentcli/protocol";
import {
  describeSandbox,
  hiddenByDefault,
  type LazyWorkspace,
  lazyWorkspace,
  openWorkspace,
  type SandboxPolicy,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { ownSkillPlaces } from "./context.ts";
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import { knownProbe } from "./sandbox-probe.ts";
import { newId } from "./sessions/thread-id.ts";

export interface Place {
  workspace: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
}

/** Refuses here, before anything is asked or written, where the sandbox cannot be had. */
export async function composeWorkspace(
  settings: TurnSettings,
  config: Config,
  { environment, directory }: Program,
): Promise<Place> {
  const policy = policyOf(settings, config, environment);
  const probe = await knownProbe(policy, environment);
  if (probe.kind === "unavailable" && policy.mode !== "danger-full-access") {
    throw new Problem("sandbox", `The ${policy.mode} sandbox is not available here. ${probe.reason} ${probe.remedy}`);
  }
  const incarnation = newId(Date.now());
  const open = () =>
    openWorkspace(policy, {
      serverProgram: join(directory, "workspace-server.cjs"),
      env: toolEnvironment(environment.variables, { home: environment.userHome }),
      incarnation,
      warmLoginShell: settings.shell,
    });
  return {
    workspace: lazyWorkspace({ root: policy.root, incarnation, open }),
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots],
  };
}

function policyOf(settings: TurnSettings, config: Config, environment: Environment): SandboxPolicy {
  const write = config.sandbox_workspace_write ?? {};
  const roots = (write.writable_roots ?? []).map((path) => (isAbsolute(path) ? path : resolve(settings.cwd, path)));
  return sandboxPolicy({
    mode: settings.sandbox,
    root: settings.cwd,
    writableRoots: settings.sandbox === "workspace-write" ? roots : [],
    network: settings.sandbox === "danger-full-access" || write.network_access ? "on" : "off",
    hidden: hiddenByDefault(environment.userHome, environment.agentHome),
    shown: ownSkillPlaces(settings.cwd, environment),
  });
}
