// The sandbox of an agent: programs of the system and its own directory, and the network through the proxy only.

import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { openProbeCache, type Sandbox, sandboxFor } from "@agentcli/host";
import type { SandboxMode } from "@agentcli/protocol";
import type { EgressPolicy } from "@agentcli/protocol/api";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import {
  environmentPolicy,
  giveFiles,
  type MachineDisk,
  type OpenedWorkspace,
  type Placeholders,
  type SandboxPolicy,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { type EgressRecord, presetHosts } from "../../../egress/index.ts";
import { type Settings, unlockDirectory } from "../../../foundation/index.ts";
import { MachineUnavailable, type MachineUse } from "../../../machines/index.ts";
import type { OpenWorkspace } from "../../../repositories/index.ts";
import type { AgentPaths } from "../agent-paths.ts";
import { type RunSocket, socketVariable } from "../agent-socket.ts";
import { newId } from "../ids.ts";
import { agentUser } from "./agent-user.ts";
import { agentLimits } from "./limits.ts";
import { type AgentProbe, probeForAgents } from "./probe.ts";
import { findReadableSecret } from "./secret-paths.ts";
import type { MeasureStart } from "./starts.ts";

export interface SandboxRequest {
  mode: SandboxMode;
  workspace: Pick<OpenWorkspace, "root" | "repositories">;
  paths: AgentPaths;
  /** Environment variables of commands, including the agent's own. */
  variables: Record<string, string>;
  /** Null: the host itself. */
  machine: Pick<MachineUse, "disk" | "prepared"> | null;
  /** For sandboxes that can write. */
  socket: Pick<RunSocket, "directory"> | null;
  /** Before the first operation in it. */
  prepare?: ((workspace: OpenedWorkspace) => Promise<void>) | undefined;
  /** Secrets that commands do not have. */
  placeholders?: Placeholders | undefined;
  egress: Pick<EgressRecord, "policy" | "name" | "onDenied" | "onTraffic">;
}

export interface Sandboxes {
  /** Throws SandboxUnavailable if commands cannot be confined. */
  open(request: SandboxRequest): Promise<Sandbox>;
  /** Why agents cannot work on this machine, and what to do; null if they can. */
  obstacle(): Promise<string | null>;
}

export function openSandboxes(settings: Settings, measureStart?: MeasureStart): Sandboxes {
  const serverProgram = join(settings.programDirectory, "workspace-server.cjs");
  const probes = openProbeCache<AgentProbe>();
  // What directories lead to may change while the server runs.
  const probe = async (): Promise<AgentProbe> => {
    const secret = settings.readableDirectories.length === 0 ? null : await findReadableSecret(settings);
    return secret === null ? probes("agents", () => probeForAgents(settings)) : { kind: "unavailable", ...secret };
  };
  return {
    async obstacle() {
      const result = await probe();
      return result.kind === "unavailable" ? `${result.reason} ${result.remedy}`.trim() : null;
    },
    async open(request) {
      const result = await probe();
      if (result.kind === "unavailable") throw new SandboxUnavailable(result.reason, result.remedy);
      const {
        machine,
        paths: { directory },
      } = request;
      const own = ownDirectories(directory);
      const policy = policyOf(request, own, settings);
      const env = { ...environmentOf(request, own, settings), ...(machine && (await variablesIn(machine, request))) };
      return sandboxFor(policy, result, {
        serverProgram,
        env: () => env,
        environmentPolicy: environmentPolicy({ set: env }),
        limits: agentLimits(settings),
        unfinishedRuns: unfinishedRuns(settings, request.paths),
        newId,
        allowedDomains: domainsShown(request.egress.policy),
        allowlistName: request.egress.name,
        onDenied: request.egress.onDenied,
        onTraffic: request.egress.onTraffic,
        placeholders: request.placeholders,
        // The previous driver of the run may still be removing its sandbox from the same directory.
        maxAttempts: 5,
        // Not before the first model request: many files take long, and so do the owners of many agents.
        ...(machine === null && result.sharedUser === undefined && { prepare: () => giveToAgent(directory) }),
        ...(machine && { disk: () => mountFor(directory, machine) }),
        ...(request.prepare && { onOpened: request.prepare }),
        ...(measureStart && { measureStart }),
      });
    },
  };
}

async function giveToAgent(directory: string): Promise<{ userId: number }> {
  const userId = agentUser(directory);
  await giveFiles(directory, userId);
  return { userId };
}

/** Where the agent's runs note that their workspace is still to be searched for new repositories. */
export const unfinishedRuns = ({ dataDirectory }: Settings, { directory }: AgentPaths): string =>
  join(dataDirectory, "unfinished-runs", basename(directory));

/** The home directory is that of `install`; what the image sets wins over the host's, and what the agent asks for over both. */
async function variablesIn(
  machine: Pick<MachineUse, "prepared">,
  { variables }: SandboxRequest,
): Promise<Record<string, string>> {
  return { HOME: "/root", ...(await machine.prepared()).env, ...variables };
}

/** The files of the agent belong to root of its machine. */
async function mountFor(directory: string, machine: Pick<MachineUse, "disk">): Promise<MachineDisk> {
  try {
    const disk = await machine.disk();
    if (disk.userId !== null) await giveFiles(directory, disk.userId);
    return disk;
  } catch (error) {
    // Another server may still be ending it.
    if (error instanceof MachineUnavailable)
      throw new SandboxUnavailable(error.message, "Send the prompt again in a minute.");
    throw error;
  }
}

/** Paths that commands must not write, such as `.git`, are protected in each repository. */
function policyOf(
  { mode, workspace, paths, egress, socket }: SandboxRequest,
  own: OwnDirectories,
  { readableDirectories }: Settings,
): SandboxPolicy {
  const { root } = workspace;
  const repositories = workspace.repositories.map(({ path }) => path);
  for (const directory of [root, ...repositories]) unlockDirectory(directory);
  return sandboxPolicy({
    mode,
    root,
    writableRoots: mode === "workspace-write" ? [...repositories, ...Object.values(own)] : [],
    ...(mode === "workspace-write" && { network: "proxy", allowedDomains: egress.policy.allowed }),
    view: "system",
    // Not the agent's own directories: what it puts there hides nothing.
    ignoreTops: repositories.length > 0 ? repositories : [root],
    shown: [paths.directory, ...readableDirectories],
    placement: paths.placement,
    ...(mode === "workspace-write" && socket && { sockets: socket.directory, unixSockets: "allowed" }),
  });
}

/** As the prompt names them: all hosts of the presets would be many words. */
const domainsShown = ({ mode, allowed }: EgressPolicy): string[] =>
  mode === "allow_all"
    ? ["public hosts"]
    : [
        ...(mode === "default_plus_allowlist" ? ["package registries", "code hosts"] : []),
        ...allowed.filter((host) => !presetHosts.includes(host)).slice(0, maxDomainsShown),
      ];

const maxDomainsShown = 50;

/** Stored beside the repositories, so that they are not part of any commit. */
function ownDirectories(agentDirectory: string): OwnDirectories {
  const own = { home: join(agentDirectory, ".home"), artifacts: artifactsDirectory(agentDirectory) };
  for (const directory of Object.values(own)) mkdirSync(directory, { recursive: true, mode: 0o700 });
  return own;
}

interface OwnDirectories {
  home: string;
  artifacts: string;
}

/** The directory where the agent puts files for its user. */
export const artifactsDirectory = (agentDirectory: string): string => join(agentDirectory, ".artifacts");

/** Nothing of the server's own environment except PATH and LANG. */
function environmentOf(
  { mode, variables, socket, paths: { toSandboxPath } }: SandboxRequest,
  { home, artifacts }: OwnDirectories,
  settings: Settings,
): Record<string, string> {
  const { PATH, LANG = "C.UTF-8" } = settings.variables;
  return {
    ...toolEnvironment({ PATH, LANG }, { home: toSandboxPath(home) }),
    CI: "1",
    ...variables,
    PLATFORM_ARTIFACTS_DIR: toSandboxPath(artifacts),
    ...(mode === "workspace-write" && socket && socketVariable),
  };
}
