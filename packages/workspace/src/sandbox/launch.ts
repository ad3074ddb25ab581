// Opens a workspace as its policy requires: in this process, or inside a sandbox.

import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import type { Bridge, EgressProxy } from "../egress/index.ts";
import { type Environment, environmentPolicy } from "../environment/index.ts";
import type { GitDirectories } from "../fingerprint.ts";
import type { OpenedWorkspace } from "../lifecycle/index.ts";
import { noLimits, type OpenedLimits, openLimits } from "../limits/index.ts";
import { openServer, type ServerConfig } from "../server/index.ts";
import { proxyVariables } from "../wire/index.ts";
import { type BackEnd, proxyUnavailable, supportsProxy } from "./back-end.ts";
import { findBubblewrap } from "./bubblewrap/find.ts";
import { withCache, withSeed, withTemporaryCache } from "./build-cache.ts";
import type { CommitOptions } from "./commits/commits.ts";
import { ShadowUnavailable } from "./commits/shadow-unavailable.ts";
import { connectServer } from "./connect.ts";
import { openEgressNotes } from "./egress-notes.ts";
import { withLimitNotes } from "./limit-notes.ts";
import type { MachineDisk } from "./machine-disk.ts";
import { insidePath } from "./placement.ts";
import type { SandboxPolicy } from "./policy.ts";
import { policyInside } from "./policy-inside.ts";
import type { Confinement } from "./refusals/explain.ts";
import { withRefusalNotes } from "./refusals/notes.ts";
import { explainStartLimit } from "./start-limit.ts";
import type { ServerProgram, StartedSandbox } from "./started-sandbox.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

export async function openWorkspace(policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> {
  if (policy.mode !== "danger-full-access") return openSandbox(policy, options);
  return openServer({
    ...configOf(policy, options),
    env: options.env,
    writable: "anywhere",
    orphans: "ended-by-watchdog",
  });
}

const openOwnLimits = ({ limits = noLimits }: WorkspaceOptions, { userId }: SandboxPolicy): OpenedLimits =>
  openLimits({ ...limits, userId });

/** Nothing inside outlives this process, nor the workspace once it is closed. */
export async function openSandbox(wanted: SandboxPolicy, given: WorkspaceOptions): Promise<OpenedWorkspace> {
  const { requested, options, seed } = withCache(await hideIgnored(wanted), given);
  const backEnd = options.backEnd ?? bubblewrapOnPath(requested, options.env);
  refuseUnsupported(requested, backEnd);
  const { policy, addWatch, configured } = await protectRepositories(requested, backEnd, options);
  const notes = openEgressNotes(options.onDenied ?? (() => {}));
  const egress = await openEgress(policy, { ...options, onDenied: notes.onDenied }, backEnd);
  const disk = await options.disk?.();
  const limits = disk ? { ...disk.limits, close: async () => {} } : openOwnLimits(options, policy);
  const bridge = openBridgeEnd(egress);
  const program = {
    ...programOf(options, limits, bridge),
    ...(disk && { disk, temporaryBytes: disk.temporaryBytes }),
  };
  const sandbox = await startSandboxed(policy, backEnd, program).catch(async (error) => {
    await limits.close();
    throw error;
  });
  const close = async () => {
    await sandbox.close();
    await limits.close();
  };
  try {
    const { shadows = [] } = sandbox;
    const env = withTemporaryCache(sandbox.config.env, policy, options);
    const config = {
      ...configOf(policy, options),
      ...sandbox.config,
      env,
      shadows: shadows.map(directoriesInside(policy)),
    };
    const { stdout } = sandbox.process;
    const { workspace, greeted } = connectServer(sandbox.process, egress ? withProxy(config) : config);
    const connected = {
      ...workspace,
      // The server pauses its processes when its output is not read.
      holdOutput: () => void stdout.pause(),
      resumeOutput: () => void stdout.resume(),
      ...(egress && { dial: bridge.dial }),
      close,
    };
    const opened = seed === undefined ? connected : withSeed(connected, seed);
    const watched = addWatch(opened);
    const temporary = config.env.TMPDIR ?? "/tmp";
    // The server begins with it when it has started; a failure to start explains any other.
    const preparing = addCommits(watched, { policy, path: options.env.PATH ?? "", shadows, configured });
    preparing.catch(() => {});
    await greeted;
    const committing = await preparing;
    const noting = withRefusalNotes(committing, confinementOf({ policy, backEnd, temporary, disk }));
    return withLimitNotes(egress ? notes.add(noting, bridge.countUnroutable) : noting, limits);
  } catch (error) {
    await close();
    // The repository is read-only then: commands see git's own error.
    if (error instanceof ShadowUnavailable) return openSandbox({ ...policy, git: "none" }, options);
    const stderr = sandbox.process.stderr();
    throw explainStartLimit(stderr) ?? sandbox.explainFailure(stderr) ?? notStarted(error);
  }
}

const confinementOf = ({ policy, backEnd, disk, temporary }: ConfinementSources): Confinement => ({
  policy: policyInside(policy),
  backEnd: backEnd.kind,
  egress: disk?.egress ?? "proxy-env",
  temporary,
});

interface ConfinementSources {
  policy: SandboxPolicy;
  backEnd: BackEnd;
  disk: MachineDisk | undefined;
  temporary: string;
}

/** Loaded by itself: the server inside matches patterns too, and must not need the rest of this module. */
const hideIgnored = async (policy: SandboxPolicy): Promise<SandboxPolicy> =>
  (await import("./ignore-files.ts")).withIgnored(policy);

/** Loaded only where commands can write. */
async function protectRepositories(
  policy: SandboxPolicy,
  backEnd: BackEnd,
  { env, userVariables, unfinishedRuns }: WorkspaceOptions,
) {
  if (policy.mode !== "workspace-write")
    return { policy, configured: [], addWatch: (opened: OpenedWorkspace) => opened };
  const { protectNested, withRepositoryWatch } = await import("./repositories/protect.ts");
  await setImmediate();
  const { watch, ...nested } = await protectNested(policy, backEnd, userVariables ?? env);
  const addWatch = (opened: OpenedWorkspace) => withRepositoryWatch(opened, watch, unfinishedRuns);
  return { ...nested, addWatch };
}

/** Loaded only where there is a repository to commit to. */
async function addCommits(workspace: OpenedWorkspace, options: CommitOptions): Promise<OpenedWorkspace> {
  if (options.shadows.length === 0) return workspace;
  await setImmediate();
  return (await import("./commits/commits.ts")).withCommits(workspace, options);
}

const programOf = (
  { serverProgram, nodePath = process.execPath, env, limits }: WorkspaceOptions,
  { enter }: OpenedLimits,
  { onBridge, bridgePorts }: Pick<ServerProgram, "onBridge" | "bridgePorts">,
): ServerProgram => ({
  ...{ serverProgram, nodePath, env, enter },
  temporaryBytes: limits?.temporaryBytes ?? null,
  onBridge,
  bridgePorts,
});

/** The bridge is there once the sandbox has started. */
function openBridgeEnd(egress: EgressProxy | undefined) {
  let bridge: Bridge | undefined;
  const onBridge = (stream: Duplex) => {
    bridge = egress?.serveBridge(stream);
  };
  return {
    onBridge: egress && onBridge,
    bridgePorts: egress?.ports,
    dial(port: number): Duplex {
      if (bridge === undefined)
        throw new Error("The sandbox cannot reach its network proxy: it was started without the socket for it.");
      return bridge.dial(port);
    },
    countUnroutable: async () => bridge?.countUnroutable() ?? 0,
  };
}

async function startSandboxed(
  policy: SandboxPolicy,
  backEnd: BackEnd,
  program: ServerProgram,
): Promise<StartedSandbox> {
  // Loading, looking at repositories and planning mounts take 10 to 20 ms each: keys are answered in between.
  await setImmediate();
  switch (backEnd.kind) {
    case "bubblewrap":
      return (await import("./bubblewrap/start.ts")).startWithBubblewrap(policy, backEnd, program);
    case "landlock":
      return (await import("./landlock/start.ts")).startWithLandlock(policy, program);
    case "seatbelt":
      return (await import("./seatbelt/start.ts")).startWithSeatbelt(policy, backEnd, program);
  }
}

/** Only mounts can build another root directory, and only root with them can change the user. */
function refuseUnsupported({ view, userId, placement }: SandboxPolicy, { kind }: BackEnd): void {
  if (kind === "bubblewrap" || (view === "machine" && userId === null && placement === null)) return;
  throw new SandboxUnavailable(
    `The sandbox was asked for a root directory or a user of its own, which ${kind} cannot give.`,
    "Install bubblewrap; agentcli sandbox probe says what keeps it from working.",
  );
}

/** Before anything is started: throws on invalid domains. */
async function openEgress(
  { network, allowedDomains, deniedDomains }: SandboxPolicy,
  { onDenied = () => {}, onTraffic, allowlistName, placeholders }: WorkspaceOptions,
  backEnd: BackEnd,
): Promise<EgressProxy | undefined> {
  if (network !== "proxy") return undefined;
  if (!supportsProxy(backEnd)) throw new SandboxUnavailable(...proxyUnavailable(backEnd));
  const { openEgressProxy, readRules } = await import("../egress/index.ts");
  const rules = await readRules(allowedDomains, deniedDomains, allowlistName);
  return openEgressProxy({ rules, onDenied, onTraffic, placeholders });
}

/** A shell profile cannot override the proxy variables. */
function withProxy<Config extends ServerConfig>(config: Config): Config {
  const variables = proxyVariables();
  const policy = config.environmentPolicy ?? environmentPolicy();
  return {
    ...config,
    env: { ...config.env, ...variables },
    environmentPolicy: { ...policy, set: { ...policy.set, ...variables } },
    egress: "bridge",
  };
}

const bubblewrapOnPath = ({ root, writableRoots }: SandboxPolicy, env: Environment): BackEnd => ({
  kind: "bubblewrap",
  program: findBubblewrap({ path: env.PATH ?? "", untrusted: [root, ...writableRoots] }),
  processes: "own",
});

const directoriesInside =
  ({ placement }: SandboxPolicy) =>
  ({ gitDirectory, commonDirectory }: GitDirectories): GitDirectories => ({
    gitDirectory: insidePath(placement, gitDirectory),
    commonDirectory: insidePath(placement, commonDirectory),
  });

type SharedConfig = Omit<ServerConfig, "env" | "writable" | "orphans" | "terminalModule" | "shadows" | "mounts"> & {
  incarnation: string;
};

function configOf(policy: SandboxPolicy, options: WorkspaceOptions): SharedConfig {
  const { incarnation, warmLoginShell, environmentPolicy, allowLoginShell = true } = options;
  return {
    root: insidePath(policy.placement, policy.root),
    incarnation,
    ...(allowLoginShell ? warmLoginShell && { warmLoginShell } : { allowLoginShell }),
    ...(environmentPolicy && { environmentPolicy }),
  };
}

function notStarted(error: unknown): SandboxUnavailable {
  if (error instanceof SandboxUnavailable) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxUnavailable(
    `The server inside the sandbox did not start. ${reason}`,
    "Reinstall agentcli, or report this as a bug.",
  );
}
