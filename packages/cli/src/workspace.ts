// Where commands run and files change: opened when first needed, its enforcement known from the start.
import { isAbsolute, join, resolve } from "node:path";
import type { Config, SandboxReport, TurnSettings } from "@agentcli/protocol";
import {
  checkDomains,
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
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import { resourceLimits } from "./resource-limits.ts";
import { knownProbe } from "./sandbox-probe.ts";
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
  if (policy.network === "proxy") await refuseBadDomains(policy);
  const incarnation = newId(Date.now());
  let tellDenial: (denial: Denial) => void = () => {};
  const shell = shellEnvironment(config, environment);
  const open = () =>
    openWorkspace(policy, {
      serverProgram: join(directory, "workspace-server.cjs"),
      env: toolEnvironment(environment.variables, { home: environment.userHome, ...shell }),
      environmentPolicy: shell.policy,
      incarnation,
      warmLoginShell: settings.shell,
      onDenied: (denial) => tellDenial(denial),
      limits: resourceLimits(config.limits),
    });
  return {
    workspace: lazyWorkspace({ root: policy.root, incarnation, open }),
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots],
    ...(policy.network === "proxy" && { allowedDomains: policy.allowedDomains }),
    listenForDenials(listener) {
      tellDenial = listener;
    },
  };
}

function policyOf(settings: TurnSettings, config: Config, environment: Environment): SandboxPolicy {
  const write = config.sandbox_workspace_write ?? {};
  const roots = (write.writable_roots ?? []).map((path) => (isAbsolute(path) ? path : resolve(settings.cwd, path)));
  return sandboxPolicy({
    mode: settings.sandbox,
    root: settings.cwd,
    writableRoots: settings.sandbox === "workspace-write" ? roots : [],
    ...networkOf(settings, write),
    git: write.git ?? "commit",
    hidden: hiddenByDefault(environment.userHome, environment.agentHome),
  });
}

type NetworkPolicy = Pick<SandboxPolicy, "network" | "allowedDomains" | "deniedDomains">;

/** Naming domains narrows the network, whether or not it is switched on; only denying some leaves all others. */
function networkOf({ sandbox }: TurnSettings, write: NonNullable<Config["sandbox_workspace_write"]>): NetworkPolicy {
  const { network_access, allowed_domains, denied_domains } = write;
  const deniedDomains = denied_domains ?? [];
  const direct = (network: "on" | "off") => ({ network, allowedDomains: [], deniedDomains: [] });
  if (sandbox !== "workspace-write") return direct(sandbox === "danger-full-access" ? "on" : "off");
  if (allowed_domains) return { network: "proxy", allowedDomains: allowed_domains, deniedDomains };
  if (network_access && denied_domains) return { network: "proxy", allowedDomains: ["*"], deniedDomains };
  return direct(network_access ? "on" : "off");
}

async function refuseBadDomains({ allowedDomains, deniedDomains }: SandboxPolicy): Promise<void> {
  try {
    await checkDomains([...allowedDomains, ...deniedDomains]);
  } catch (error) {
    throw new Problem("usage", `sandbox_workspace_write: ${(error as Error).message}`);
  }
}
