// Sandboxes: what a policy allows, which back end enforces it, and workspaces opened inside. Heavy parts load when used.
import type { OpenedWorkspace } from "../lifecycle/index.ts";
import type { BackEnd, UnavailableBackEnd } from "./back-end.ts";
import type { ConnectionEnds, Peer } from "./local-peer.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { ProbeOptions, SandboxProbe } from "./probe.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

export {
  type BackEnd,
  describeKnownGap,
  type KnownGap,
  knownGapsOf,
  proxyUnavailable,
  supportsProxy,
  type UnavailableBackEnd,
} from "./back-end.ts";
export type { ConnectionEnds, Peer } from "./local-peer.ts";
export type { MachineDisk } from "./machine-disk.ts";
export { hiddenByDefault, hiddenByVariables } from "./personal-paths.ts";
export { insidePath, type Placement } from "./placement.ts";
export { type PolicyOptions, protectedNames, type SandboxPolicy, sandboxPolicy } from "./policy.ts";
export type { ProbeOptions, SandboxProbe } from "./probe.ts";
export { describeSandbox } from "./report.ts";
export type { WorkspaceOptions } from "./workspace-options.ts";

/** In this process for danger-full-access, else in a sandbox; throws SandboxUnavailable where none works. */
export const openWorkspace = async (policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> =>
  (await import("./launch.ts")).openWorkspace(policy, options);

export const probeSandbox = async (options: ProbeOptions): Promise<SandboxProbe> =>
  (await import("./probe.ts")).probeSandbox(options);

/** Why commands cannot run as another user than this process; undefined if they can. */
export const probeOtherUser = async (backEnd: BackEnd, userId: number): Promise<string | undefined> =>
  (await import("./probe.ts")).probeOtherUser(backEnd, userId);

/** The system directories that agents of a "system" view can read. */
export const readSystemPaths = async (): Promise<string[]> => (await import("./system-paths.ts")).existingSystemPaths();

/** Gives what root has written in a directory to the user who works there. */
export const giveFiles = async (directory: string, userId: number): Promise<void> =>
  (await import("./ownership.ts")).giveFiles(directory, userId);

/** Every back end of this system, also after the first that works. */
export const probeAllBackEnds = async (options: ProbeOptions): Promise<(BackEnd | UnavailableBackEnd)[]> =>
  (await import("./probe.ts")).probeAllBackEnds(options);

/** Who is at the other end of a connection to this machine. */
export const identifyPeer = async (ends: ConnectionEnds): Promise<Peer> =>
  (await import("./local-peer.ts")).identifyPeer(ends);

/** Who is at the other end of a connection over a socket file, by the descriptor of this end. */
export const identifyFilePeer = async (descriptor: number | undefined): Promise<Peer> =>
  (await import("./file-peer.ts")).identifyFilePeer(descriptor);

/** One sentence for each repository that runs with notes in this directory have created or changed before they were killed. */
export const searchUnfinished = async (directory: string): Promise<string[]> =>
  (await import("./repositories/unfinished.ts")).searchUnfinished(directory);

/** What a machine is started with. */
export type MachineParts = typeof import("./machine/parts.ts");

export const loadMachineParts = async (): Promise<MachineParts> => import("./machine/parts.ts");
