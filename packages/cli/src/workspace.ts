// Where commands run and files change: opened when first needed, its enforcement known from the start.
import { isAbsolute, resolve } from "node:path";
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
import { credentialVariables } from "./credentials/variables.ts";
import type { Environment } from "./environment.ts";
import type { Program } from "./program.ts";
import { backEndOf, chooseSandbox, type LeastBackEnd } from "./sandbox-choice.ts";
import { serverProgramIn } from "./sandbox-probe.ts";
import { newId } from "./sessions/thread-id.ts";

export interface Place {
  workspace: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
}

export type PlaceSettings = Pick<TurnSettings, "sandbox" | "cwd" | "shell"> & { sandboxMin?: LeastBackEnd };

/** Refuses here, before anything is asked or written, where the sandbox cannot be had. */
export async function composeWorkspace(settings: PlaceSettings, config: Config, program: Program): Promise<Place> {
  const { environment, directory } = program;
  const policy = policyOf(settings, config, environment);
  const probe = await chooseSandbox(policy, settings.sandboxMin, program);
  const denied = { names: credentialVariables(config) };
  const open = (incarnation: string) =>
    openWorkspace(policy, {
      serverProgram: serverProgramIn(directory),
      ...backEndOf(probe),
      env: toolEnvironment(environment.variables, { home: environment.userHome, denied }),
      denyEnvironment: denied,
      incarnation,
      warmLoginShell: settings.shell,
    });
  return {
    workspace: lazyWorkspace({ root: policy.root, newIncarnation: () => newId(Date.now()), open }),
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots],
  };
}

function policyOf(settings: PlaceSettings, config: Config, environment: Environment): SandboxPolicy {
  const write = config.sandbox_workspace_write ?? {};
  const roots = (write.writable_roots ?? []).map((path) => (isAbsolute(path) ? path : resolve(settings.cwd, path)));
  return sandboxPolicy({
    mode: settings.sandbox,
    root: settings.cwd,
    writableRoots: settings.sandbox === "workspace-write" ? roots : [],
    network: settings.sandbox === "danger-full-access" || write.network_access ? "on" : "off",
    hidden: hiddenByDefault(environment.userHome, environment.agentHome),
  });
}
