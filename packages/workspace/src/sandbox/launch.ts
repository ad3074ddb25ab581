// Opens a workspace where its policy says: in this process, or inside a sandbox on the back end that was found.
import type { Workspace } from "@agentcli/protocol";
import { connectWorkspace } from "../client/client.ts";
import type { OpenedWorkspace } from "../client/lazy.ts";
import { proxyVariables } from "../egress/bridge-wire.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import type { Denial } from "../egress/reach.ts";
import { withLimitNotes } from "../limits/limit-notes.ts";
import { type OpenedLimits, openLimits, type ResourceLimits } from "../limits/limits.ts";
import type { Environment } from "../server/login-environment.ts";
import type { ServerConfig } from "../server/server.ts";
import { type BackEnd, canProxy, noProxy } from "./back-end.ts";
import type { ConfinedProcess } from "./confined-process.ts";
import type { Enclosure, ServerProgram } from "./enclosure.ts";
import { type EnvironmentPolicy, environmentPolicy } from "./environment-policy.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { withCommits } from "./git-commit.ts";
import type { SandboxPolicy } from "./policy.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

export interface WorkspaceOptions {
  /** The built server: one file that Node can run. */
  serverProgram: string;
  /** The Node that runs it; this one when absent. */
  nodePath?: string;
  /** What every tool gets; see toolEnvironment. */
  env: Environment;
  incarnation: string;
  /** What a probe found; bubblewrap from PATH when absent. */
  backEnd?: BackEnd;
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
  return openServer({
    ...configOf(policy, options),
    env: options.env,
    writable: "anywhere",
    orphans: "ended-by-watchdog",
  });
}

/** Nothing inside outlives this process, nor the workspace once it is closed. */
export async function openSandbox(policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> {
  const backEnd = options.backEnd ?? bubblewrapOnPath(policy, options.env);
  const egress = await openEgress(policy, options, backEnd);
  const limits = openLimits(options.limits ?? { memoryBytes: null, processes: null });
  const enclosure = await enclose(policy, backEnd, programOf(options, limits, egress)).catch(async (error) => {
    await limits.close();
    throw error;
  });
  const close = async () => {
    await enclosure.close();
    await limits.close();
  };
  try {
    const config = { ...configOf(policy, options), ...enclosure.config };
    const { stdout } = enclosure.process;
    const opened = {
      ...(await greet(enclosure.process, egress ? throughProxy(config) : config)),
      // The server holds back its processes when nobody reads.
      holdOutput: () => void stdout.pause(),
      resumeOutput: () => void stdout.resume(),
      close,
    };
    return withLimitNotes(
      commits(policy, backEnd) ? withCommits(opened, { policy, path: options.env.PATH ?? "" }) : opened,
      limits,
    );
  } catch (error) {
    await close();
    throw enclosure.explain(enclosure.process.said()) ?? notStarted(error);
  }
}

const programOf = (
  { serverProgram, nodePath = process.execPath, env }: WorkspaceOptions,
  { enter }: OpenedLimits,
  egress: EgressProxy | undefined,
): ServerProgram => ({ serverProgram, nodePath, env, enter, onBridge: egress?.serveBridge });

async function enclose(policy: SandboxPolicy, backEnd: BackEnd, program: ServerProgram): Promise<Enclosure> {
  switch (backEnd.kind) {
    case "bubblewrap":
      return (await import("./enclose-bubblewrap.ts")).encloseWithBubblewrap(policy, backEnd, program);
    case "landlock":
      return (await import("./landlock/enclose.ts")).encloseWithLandlock(policy, program);
    case "seatbelt":
      return (await import("./seatbelt-enclose.ts")).encloseWithSeatbelt(policy, backEnd, program);
  }
}

/** Before anything is started: domains that cannot be read are refused here. */
async function openEgress(
  { network, allowedDomains, deniedDomains }: SandboxPolicy,
  { onDenied = () => {} }: WorkspaceOptions,
  backEnd: BackEnd,
): Promise<EgressProxy | undefined> {
  if (network !== "proxy") return undefined;
  if (!canProxy(backEnd)) throw new SandboxUnavailable(...noProxy(backEnd));
  const [{ openEgressProxy }, { readRules }] = await Promise.all([
    import("../egress/proxy.ts"),
    import("../egress/rules.ts"),
  ]);
  return openEgressProxy({ rules: readRules(allowedDomains, deniedDomains), onDenied });
}

/** A profile cannot lead tools past the proxy. */
function throughProxy(config: ServerConfig): ServerConfig {
  const variables = proxyVariables();
  const policy = config.environmentPolicy ?? environmentPolicy();
  return {
    ...config,
    env: { ...config.env, ...variables },
    environmentPolicy: { ...policy, set: { ...policy.set, ...variables } },
    egress: "bridge",
  };
}

/** Where the repository is not protected, git itself can write it. */
const commits = ({ mode, git }: SandboxPolicy, backEnd: BackEnd) =>
  mode === "workspace-write" && git === "commit" && backEnd.kind === "bubblewrap";

const bubblewrapOnPath = ({ root, writableRoots }: SandboxPolicy, env: Environment): BackEnd => ({
  kind: "bubblewrap",
  program: findBubblewrap({ path: env.PATH ?? "", untrusted: [root, ...writableRoots] }),
  processes: "own",
});

/** Hands over the configuration and waits for the hello of the very server that was configured. */
async function greet(confined: ConfinedProcess, config: ServerConfig): Promise<Workspace> {
  const limit = setTimeout(() => void confined.kill(), startLimitMs);
  try {
    confined.stdin.write(`${JSON.stringify(config)}\n`);
    const workspace = await connectWorkspace({
      readable: confined.stdout,
      writable: confined.stdin,
      describeEnd: confined.describeEnd,
    });
    if (workspace.root === config.root && workspace.incarnation === config.incarnation) return workspace;
    throw new Error(`Another server answered: ${workspace.root}, ${workspace.incarnation}.`);
  } finally {
    clearTimeout(limit);
  }
}

type Common = Omit<ServerConfig, "env" | "writable" | "orphans" | "terminalModule">;

function configOf(policy: SandboxPolicy, options: WorkspaceOptions): Common {
  const { incarnation, warmLoginShell, environmentPolicy } = options;
  return {
    root: policy.root,
    incarnation,
    ...(warmLoginShell && { warmLoginShell }),
    ...(environmentPolicy && { environmentPolicy }),
  };
}

function notStarted(error: unknown): SandboxUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxUnavailable(`The server inside the sandbox did not start. ${reason}`, "Reinstall, or report this.");
}
