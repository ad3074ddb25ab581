// Opens a workspace where its policy says: in this process, or inside one bubblewrap.
import type { Workspace } from "@agentcli/protocol";
import { connectWorkspace } from "../client/client.ts";
import type { OpenedWorkspace } from "../client/lazy.ts";
import { proxyVariables } from "../egress/bridge-wire.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import type { Denial } from "../egress/reach.ts";
import { withLimitNotes } from "../limits/limit-notes.ts";
import { openLimits, type ResourceLimits } from "../limits/limits.ts";
import type { Environment } from "../server/login-environment.ts";
import type { ServerConfig } from "../server/server.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { type BubblewrapProcess, seccompDescriptor, startBubblewrap } from "./bubblewrap-process.ts";
import { sandboxedEnvironment } from "./environment.ts";
import { type EnvironmentPolicy, environmentPolicy } from "./environment-policy.ts";
import { withCommits } from "./git-commit.ts";
import { makeMountPoints, removeMountPoints } from "./mount-points.ts";
import { planMounts } from "./plan.ts";
import type { SandboxPolicy } from "./policy.ts";
import { explainFailure, findBubblewrap } from "./probe.ts";
import { findTerminalLibrary, showRuntime } from "./runtime.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";
import { architectureOf, seccompProgram } from "./seccomp.ts";

export interface WorkspaceOptions {
  /** The built server: one file that Node can run. */
  serverProgram: string;
  /** The Node that runs it; this one when absent. */
  nodePath?: string;
  /** What every tool gets; see toolEnvironment. */
  env: Environment;
  incarnation: string;
  warmLoginShell?: string;
  /** What of a login shell's environment tools get. */
  environmentPolicy?: EnvironmentPolicy;
  /** Told of every connection the proxy refused. */
  onDenied?(denial: Denial): void;
  /** None when absent. */
  limits?: ResourceLimits;
}

const startLimitMs = 30_000;

export async function openWorkspace(policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> {
  if (policy.mode !== "danger-full-access") return openSandbox(policy, options);
  const { openServer } = await import("../server/server.ts");
  return openServer({ ...configOf(policy, options), orphans: "ended-by-watchdog" });
}

/** Nothing inside outlives this process, nor the workspace once it is closed. */
export async function openSandbox(policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> {
  const { serverProgram, nodePath = process.execPath, env } = options;
  const path = env.PATH ?? "";
  const egress = await openEgress(policy, options);
  const program = findBubblewrap({ path, untrusted: [policy.root, ...policy.writableRoots] });
  const terminals = findTerminalLibrary(serverProgram);
  const plan = planMounts(showRuntime(policy, { serverProgram, nodePath, path, terminals }), process.geteuid?.() ?? 0);
  const points = makeMountPoints(plan.mounts.flatMap((mount) => (mount.kind === "absent" ? mount.path : [])));
  const mounts = plan.mounts.filter((mount) => mount.kind !== "absent" || points.includes(mount.path));
  const filter = filterOf(policy);
  const argv = bubblewrapArguments(
    { ...plan, mounts },
    { argv: [nodePath, serverProgram], seccompDescriptor: filter && seccompDescriptor },
  );
  const limits = openLimits(options.limits ?? { memoryBytes: null, processes: null });
  const limited = limits.enter(program, argv);
  const sandbox = startBubblewrap(limited.program, limited.argv, { filter, onBridge: egress?.serveBridge });
  const close = async () => {
    await sandbox.kill();
    removeMountPoints(points);
    await limits.close();
  };
  const terminalModule = terminals && { terminalModule: terminals.module };
  const config: ServerConfig = {
    ...configOf(policy, options),
    ...environmentInside(policy, options),
    ...terminalModule,
    orphans: "ended-by-namespace",
    whenOutOfMemory: "commands-end-first",
  };
  try {
    const opened = { ...(await greet(sandbox, config)), close };
    const commits = policy.mode === "workspace-write" && policy.git === "commit";
    return withLimitNotes(commits ? withCommits(opened, { policy, path }) : opened, limits);
  } catch (error) {
    await close();
    throw explain(sandbox, error);
  }
}

/** Hands over the configuration and waits for the hello of the very server that was configured. */
async function greet(sandbox: BubblewrapProcess, config: ServerConfig): Promise<Workspace> {
  const limit = setTimeout(() => void sandbox.kill(), startLimitMs);
  try {
    sandbox.stdin.write(`${JSON.stringify(config)}\n`);
    const workspace = await connectWorkspace({
      readable: sandbox.stdout,
      writable: sandbox.stdin,
      describeEnd: sandbox.describeEnd,
    });
    if (workspace.root === config.root && workspace.incarnation === config.incarnation) return workspace;
    throw new Error(`Another server answered: ${workspace.root}, ${workspace.incarnation}.`);
  } finally {
    clearTimeout(limit);
  }
}

/** Before anything is started: domains that cannot be read are refused here. */
async function openEgress(policy: SandboxPolicy, options: WorkspaceOptions): Promise<EgressProxy | undefined> {
  if (policy.network !== "proxy") return undefined;
  const [{ openEgressProxy }, { readRules }] = await Promise.all([
    import("../egress/proxy.ts"),
    import("../egress/rules.ts"),
  ]);
  const rules = readRules(policy.allowedDomains, policy.deniedDomains);
  return openEgressProxy({ rules, onDenied: (denial) => options.onDenied?.(denial) });
}

/** A profile cannot lead tools past the proxy. */
function environmentInside({ network }: SandboxPolicy, options: WorkspaceOptions) {
  const env = sandboxedEnvironment(options.env);
  if (network !== "proxy") return { env };
  const variables = proxyVariables();
  const policy = options.environmentPolicy ?? environmentPolicy();
  return {
    env: { ...env, ...variables },
    environmentPolicy: { ...policy, set: { ...policy.set, ...variables } },
    egress: "bridge" as const,
  };
}

function configOf(policy: SandboxPolicy, options: WorkspaceOptions): Omit<ServerConfig, "orphans"> {
  const { env, incarnation, warmLoginShell, environmentPolicy } = options;
  return {
    root: policy.root,
    writable: writableOf(policy),
    env,
    incarnation,
    ...(warmLoginShell && { warmLoginShell }),
    ...(environmentPolicy && { environmentPolicy }),
  };
}

function writableOf({ mode, root, writableRoots }: SandboxPolicy): ServerConfig["writable"] {
  switch (mode) {
    case "danger-full-access":
      return "anywhere";
    case "workspace-write":
      return [root, ...writableRoots, "/tmp"];
    case "read-only":
      return ["/tmp"];
  }
}

function filterOf({ unixSockets, nestedSandboxes }: SandboxPolicy): Buffer | undefined {
  const architecture = architectureOf(process.arch);
  return architecture && seccompProgram({ architecture, unixSockets, nestedSandboxes });
}

function explain(sandbox: BubblewrapProcess, error: unknown): SandboxUnavailable {
  const said = sandbox.said();
  if (said.startsWith("bwrap:")) {
    const { reason, remedy } = explainFailure(said);
    return new SandboxUnavailable(reason, remedy);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxUnavailable(`The server inside the sandbox did not start. ${reason}`, "Reinstall, or report this.");
}
