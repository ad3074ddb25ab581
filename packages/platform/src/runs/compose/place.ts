// Where the commands of a run work: the agent's directory, inside the sandbox, with the network through the proxy.
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SandboxMode, SandboxReport } from "@agentcli/protocol";
import {
  describeSandbox,
  environmentPolicy,
  hiddenByDefault,
  type LazyWorkspace,
  lazyWorkspace,
  openWorkspace,
  type SandboxProbe,
  SandboxUnavailable,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import type { Settings } from "../../config/index.ts";
import { probeForAgents } from "./probe.ts";

export interface Place {
  workspace: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
  /** Where the agent puts what people should have. */
  artifacts: string;
}

export interface PlaceRequest {
  mode: SandboxMode;
  root: string;
  /** Directories of the repositories: what each has of its own there, such as `.git`, is held back in each. */
  repositories: string[];
  /** Everything of the agent: its repositories and what it keeps beside them. */
  agentDirectory: string;
  /** Variables that commands are given, the agent's own among them. */
  variables: Record<string, string>;
  newIncarnation(): string;
}

export interface Sandboxes {
  /** Throws SandboxUnavailable where commands could not be held. */
  place(request: PlaceRequest): Promise<Place>;
  /** Why no agent can work here, and what to do; null where they can. */
  obstacle(): Promise<string | null>;
}

export function openSandboxes(settings: Settings): Sandboxes {
  const serverProgram = join(settings.programDirectory, "workspace-server.cjs");
  let probing: Promise<SandboxProbe> | undefined;
  // What does not work now may work later: only good news is kept.
  const probe = async () => {
    probing ??= probeForAgents(settings);
    const looked = probing;
    const found = await looked.finally(() => {
      probing = undefined;
    });
    if (found.kind === "available") probing = looked;
    return found;
  };
  return {
    async obstacle() {
      const found = await probe();
      return found.kind === "unavailable" ? `${found.reason} ${found.remedy}`.trim() : null;
    },
    async place(request) {
      const found = await probe();
      if (found.kind === "unavailable") throw new SandboxUnavailable(found.reason, found.remedy);
      const own = ownDirectories(request.agentDirectory);
      for (const directory of [request.root, ...request.repositories]) unlock(directory);
      const policy = sandboxPolicy({
        mode: request.mode,
        root: request.root,
        writableRoots: request.mode === "workspace-write" ? [...request.repositories, ...Object.values(own)] : [],
        ...(request.mode === "workspace-write" && { network: "proxy", allowedDomains: ["*"] }),
        hidden: [settings.dataDirectory, ...hiddenByDefault(homedir(), settings.dataDirectory)],
        shown: [request.agentDirectory],
      });
      const env = environmentOf(request, own, settings);
      return {
        workspace: lazyWorkspace({
          root: policy.root,
          newIncarnation: request.newIncarnation,
          open: (incarnation) =>
            againWhileUnavailable(() =>
              openWorkspace(policy, {
                serverProgram,
                backEnd: found.backEnd,
                env,
                environmentPolicy: environmentPolicy({ set: env }),
                incarnation,
                limits: { memoryBytes: null, processes: 4096 },
              }),
            ),
        }),
        report: describeSandbox(policy, found),
        writableRoots: [policy.root, ...policy.writableRoots],
        artifacts: own.artifacts,
      };
    },
  };
}

/**
 * An agent may take the rights on its own directory from itself; the next run could not even enter it. It cannot put
 * something else in its place: what holds the directory is the host's.
 */
function unlock(directory: string): void {
  const stats = lstatSync(directory);
  if (stats.isDirectory() && (stats.mode & 0o700) !== 0o700) chmodSync(directory, (stats.mode & 0o777) | 0o700);
}

const mostTries = 5;
const betweenTriesMs = 200;

/** Whoever drove the run before may still be clearing its sandbox away from the same directory. */
async function againWhileUnavailable<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof SandboxUnavailable) || tried === mostTries) throw error;
      await pause(betweenTriesMs);
    }
  }
}

/** Kept beside the repositories, so that they are not part of any commit. */
function ownDirectories(agentDirectory: string): { home: string; artifacts: string } {
  const own = { home: join(agentDirectory, ".home"), artifacts: join(agentDirectory, ".artifacts") };
  for (const directory of Object.values(own)) mkdirSync(directory, { recursive: true, mode: 0o700 });
  return own;
}

/** Nothing of the server's own environment but the way to programs. */
function environmentOf(
  { variables }: PlaceRequest,
  { home, artifacts }: { home: string; artifacts: string },
  settings: Settings,
): Record<string, string> {
  const { PATH, LANG = "C.UTF-8" } = settings.variables;
  return {
    ...toolEnvironment({ PATH, LANG }, { home }),
    CI: "1",
    PLATFORM_ARTIFACTS_DIR: artifacts,
    ...variables,
  };
}
