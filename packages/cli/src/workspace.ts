// Where commands run and files change: opened when first needed, its enforcement known from the start.
import { isAbsolute, resolve } from "node:path";
import type { Config, SandboxReport, TurnSettings } from "@agentcli/protocol";
import {
  type Denial,
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
import { checkNetwork, networkOf } from "./network-policy.ts";
import type { Program } from "./program.ts";
import { resourceLimits } from "./resource-limits.ts";
import { backEndOf, chooseSandbox, type LeastBackEnd } from "./sandbox-choice.ts";
import { serverProgramIn } from "./sandbox-probe.ts";
import { newId } from "./sessions/thread-id.ts";
import { shellEnvironment } from "./shell-environment.ts";

export interface Place {
  workspace: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
  /** What commands may reach where a proxy decides. */
  allowedDomains?: string[];
  /** The last to listen is told of every connection the proxy refused. */
  listenForDenials(listener: (denial: Denial) => void): void;
}

export type PlaceSettings = Pick<TurnSettings, "sandbox" | "cwd" | "shell"> & {
  sandboxMin?: LeastBackEnd;
  /** Over what is configured. */
  network?: "on";
};

/** Refuses here, before anything is asked or written, where the sandbox cannot be had. */
export async function composeWorkspace(settings: PlaceSettings, config: Config, program: Program): Promise<Place> {
  const { environment, directory } = program;
  const policy = policyOf(settings, config, environment);
  const probe = await chooseSandbox(policy, settings.sandboxMin, program);
  await checkNetwork(policy, probe);
  const shell = shellEnvironment(config, environment);
  let tellDenial: (denial: Denial) => void = () => {};
  const open = (incarnation: string) =>
    openWorkspace(policy, {
      serverProgram: serverProgramIn(directory),
      ...backEndOf(probe),
      env: toolEnvironment(environment.variables, { home: environment.userHome, ...shell }),
      environmentPolicy: shell.policy,
      incarnation,
      warmLoginShell: settings.shell,
      onDenied: (denial) => tellDenial(denial),
      limits: resourceLimits(config.limits),
    });
  return {
    workspace: lazyWorkspace({ root: policy.root, newIncarnation: () => newId(Date.now()), open }),
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots],
    ...(policy.network === "proxy" && { allowedDomains: policy.allowedDomains }),
    listenForDenials(listener) {
      tellDenial = listener;
    },
  };
}

function policyOf(settings: PlaceSettings, config: Config, environment: Environment): SandboxPolicy {
  const write = config.sandbox_workspace_write ?? {};
  const roots = (write.writable_roots ?? []).map((path) => (isAbsolute(path) ? path : resolve(settings.cwd, path)));
  return sandboxPolicy({
    mode: settings.sandbox,
    root: settings.cwd,
    writableRoots: settings.sandbox === "workspace-write" ? roots : [],
    ...networkOf(settings.sandbox, write),
    ...(settings.network && { network: settings.network }),
    git: write.git ?? "commit",
    unixSockets: write.unix_sockets ? "allowed" : "refused",
    hidden: hiddenByDefault(environment.userHome, environment.agentHome),
    shown: ownSkillPlaces(settings.cwd, environment),
  });
}
