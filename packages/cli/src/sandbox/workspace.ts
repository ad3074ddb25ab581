// Where commands run and files change: opened when first needed, its enforcement known from the start.
import { resolve } from "node:path";
import { type Environment, type MinBackEnd, resourceLimits, type Sandbox, sandboxFor } from "@agentcli/host";
import { newId } from "@agentcli/host/sessions";
import type { Config, TurnSettings } from "@agentcli/protocol";
import {
  hiddenByDefault,
  hiddenByVariables,
  type SandboxPolicy,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { ownSkillPaths } from "../config/context.ts";
import type { Program } from "../program.ts";
import { buildCaches } from "./build-caches.ts";
import { chooseSandbox } from "./choice.ts";
import { checkNetwork, networkOf } from "./network-policy.ts";
import { serverProgramIn } from "./probe.ts";
import { shellEnvironment } from "./shell-environment.ts";
import { unfinishedRuns } from "./unfinished-runs.ts";

export type SandboxSettings = Pick<TurnSettings, "sandbox" | "cwd" | "shell"> & {
  sandboxMin?: MinBackEnd;
  /** Over what is configured. */
  network?: "on";
  /** For calls that a user approved one by one: PATH has only programs that no agent can have written. */
  path?: "trusted";
  /** Cannot be changed, also where the rest can. */
  protectedPaths?: string[];
  /** The trace that commands are part of. */
  traceparent?: string;
};

/** Throws before anything is asked or written where the sandbox is not available. */
export async function composeWorkspace(settings: SandboxSettings, config: Config, program: Program): Promise<Sandbox> {
  const { environment, directory } = program;
  environment.programs.distrust([settings.cwd, ...configuredRoots(settings, config)]);
  const policy = policyOf(settings, config, environment);
  const probe = await chooseSandbox(policy, settings.sandboxMin, program);
  await checkNetwork(policy, probe);
  const shell = shellEnvironment(config, environment);
  return sandboxFor(policy, probe, {
    serverProgram: serverProgramIn(directory),
    env: () => ({
      ...toolEnvironment(environment.variables, { home: environment.userHome, ...shell }),
      ...(settings.path === "trusted" && { PATH: environment.programs.path() }),
      ...(settings.traceparent && { TRACEPARENT: settings.traceparent }),
    }),
    userVariables: environment.variables,
    environmentPolicy: shell.policy,
    warmLoginShell: settings.shell,
    allowLoginShell: config.allow_login_shell ?? true,
    ...(config.sandbox_workspace_write?.build_cache !== "none" && { cacheDirectory: buildCaches(environment) }),
    unfinishedRuns: unfinishedRuns(environment),
    limits: resourceLimits(config.limits),
    newId: () => newId(Date.now()),
  });
}

/** Directories that are writable in workspace-write, beside the working directory. */
export const configuredRoots = ({ cwd }: { cwd: string }, { sandbox_workspace_write: write }: Config): string[] =>
  (write?.writable_roots ?? []).map((path) => resolve(cwd, path));

function policyOf(settings: SandboxSettings, config: Config, environment: Environment): SandboxPolicy {
  const write = config.sandbox_workspace_write ?? {};
  const { userHome, agentHome, variables, ownFiles = [] } = environment;
  const roots = [settings.cwd, ...configuredRoots(settings, config)];
  return sandboxPolicy({
    mode: settings.sandbox,
    root: settings.cwd,
    writableRoots: settings.sandbox === "workspace-write" ? configuredRoots(settings, config) : [],
    protectedPaths: settings.protectedPaths ?? [],
    ownDirectories: [agentHome],
    ...networkOf(settings.sandbox, write),
    ...(settings.network && { network: settings.network }),
    git: write.git ?? "commit",
    nestedRepositories: write.nested_repositories ?? "protected",
    unixSockets: write.unix_sockets ? "allowed" : "refused",
    hidden: [
      ...hiddenByDefault(userHome, agentHome),
      ...hiddenByVariables(variables, { home: userHome, roots }),
      ...ownFiles,
    ],
    shown: ownSkillPaths(settings.cwd, config, environment),
  });
}
