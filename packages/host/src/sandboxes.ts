// The sandboxes of one run, opened once per mode: for its tools, for sub-agents with fewer rights, for its MCP servers.

import type { SandboxMode, SandboxReport, TurnSettings } from "@agentcli/protocol";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import {
  type Denial,
  describeSandbox,
  insidePath,
  type LazyWorkspace,
  lazyWorkspace,
  type OpenedWorkspace,
  openWorkspace,
  type SandboxPolicy,
  type SandboxProbe,
} from "@agentcli/workspace";

export interface Sandbox {
  workspace: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
  /** Domains that commands may reach through the proxy; absent without a proxy. */
  allowedDomains?: string[] | undefined;
  /** The listener receives every connection that the proxy refuses; a second one replaces it. */
  onConnectionBlocked(listener: (denial: Denial) => void): void;
}

/** Throws if commands cannot be confined; never falls back to no sandbox. What hooks run is protected inside. */
export type OpenSandbox = (mode: SandboxMode, protectedPaths: string[]) => Promise<Sandbox>;

export interface Sandboxes {
  /** For the tools of the main thread. */
  main: Sandbox;
  /** For approved calls. Undefined if approvals are off or the run has no sandbox anyway. */
  unsandboxedWorkspace: LazyWorkspace | undefined;
  forMode(mode: SandboxMode): Promise<LazyWorkspace>;
  /** Separate from those of tools: a command cannot end the process of a server. */
  forServers(mode?: SandboxMode): Promise<LazyWorkspace>;
  /** Ends what commands left running where they can write, so that nothing changes any more. */
  endCommands(): Promise<void>;
  /** Ends what servers left running there. */
  endServerProcesses(): Promise<void>;
  /** One sentence for each repository that commands and servers have created or changed, once. */
  findRepositoryChanges(): Promise<string[]>;
  close(): Promise<void>;
}

export async function openSandboxes(
  open: OncePerMode<Sandbox>["open"],
  { sandbox: mode, approval }: Pick<TurnSettings, "sandbox" | "approval">,
): Promise<Sandboxes> {
  const workspaceOf = async (sandbox: Promise<Sandbox>) => (await sandbox).workspace;
  const close = (sandbox: Sandbox) => sandbox.workspace.close();
  const toolSandboxes = oncePerMode(open, close);
  const serverSandboxes = oncePerMode(open, close);
  const main = await toolSandboxes.open(mode);
  const needsUnsandboxed = approval !== "never" && mode !== "danger-full-access";
  return {
    main,
    unsandboxedWorkspace: needsUnsandboxed ? await workspaceOf(toolSandboxes.open("danger-full-access")) : undefined,
    forMode: (other) => workspaceOf(toolSandboxes.open(other)),
    forServers: (other = mode) => workspaceOf(serverSandboxes.open(other)),
    endCommands: () => endProcesses(toolSandboxes),
    endServerProcesses: () => endProcesses(serverSandboxes),
    async findRepositoryChanges() {
      const opened = await Promise.all([...toolSandboxes.opened(), ...serverSandboxes.opened()]);
      return changesIn(opened.map(({ workspace }) => workspace));
    },
    async close() {
      await Promise.all([toolSandboxes.close(), serverSandboxes.close()]);
    },
  };
}

/** In turn: each one leaves to the next what it does not know. */
export async function changesIn(workspaces: Pick<LazyWorkspace, "findRepositoryChanges">[]): Promise<string[]> {
  const changes = new Set<string>();
  for (const workspace of workspaces) for (const change of await workspace.findRepositoryChanges()) changes.add(change);
  return [...changes];
}

/** Where they can write. */
async function endProcesses(sandboxes: OncePerMode<Sandbox>): Promise<void> {
  const opened = await Promise.all(sandboxes.opened());
  const writable = opened.filter(({ report }) => report.mode === "workspace-write");
  await Promise.all(writable.map(({ workspace }) => workspace.release([])));
}

export interface OncePerMode<Opened> {
  open(mode: SandboxMode): Promise<Opened>;
  opened(): Promise<Opened>[];
  close(): Promise<void>;
}

export function oncePerMode<Opened>(
  open: (mode: SandboxMode) => Promise<Opened>,
  close: (opened: Opened) => Promise<void>,
): OncePerMode<Opened> {
  const opened = new Map<SandboxMode, Promise<Opened>>();
  return {
    open(mode) {
      const opening = opened.get(mode) ?? open(mode);
      opened.set(mode, opening);
      return opening;
    },
    opened: () => [...opened.values()],
    async close() {
      await Promise.all([...opened.values()].map(async (opening) => close(await opening)));
    },
  };
}

export interface SandboxOptions extends Omit<Parameters<typeof openWorkspace>[1], "env" | "incarnation" | "backEnd"> {
  /** Of every tool; determined when the sandbox opens, which a run without a command never does. */
  env(): Record<string, string>;
  newId(): string;
  /** As named in the prompt; default: those of the policy. */
  allowedDomains?: string[];
  /** Before each attempt to open it; returns what of the policy is decided only then. */
  prepare?(): Promise<Pick<SandboxPolicy, "userId">>;
  /** Attempts to open an unavailable sandbox; default: 1. */
  maxAttempts?: number;
  /** Before its first operation, each time that it was opened. It is closed if this fails. */
  onOpened?(workspace: OpenedWorkspace): Promise<void>;
  /** Around each start of the sandbox, with all its attempts. */
  measureStart?<Started>(start: () => Promise<Started>): Promise<Started>;
}

/** A sandbox that enforces this policy. It opens on first use; its report is available immediately. */
export function sandboxFor(policy: SandboxPolicy, probe: SandboxProbe, options: SandboxOptions): Sandbox {
  const { env, newId, maxAttempts = 1, allowedDomains = policy.allowedDomains, ...others } = options;
  const { measureStart = (start) => start(), prepare, onOpened, onDenied: observe, ...rest } = others;
  const inside = (path: string) => insidePath(policy.placement, path);
  let onDenied: (denial: Denial) => void = () => {};
  const open = async (incarnation: string) => {
    return openWorkspace(
      { ...policy, ...(await prepare?.()) },
      {
        ...rest,
        env: env(),
        ...(probe.kind === "available" && { backEnd: probe.backEnd }),
        incarnation,
        onDenied(denial) {
          observe?.(denial);
          onDenied(denial);
        },
      },
    );
  };
  return {
    workspace: lazyWorkspace({
      root: inside(policy.root),
      newIncarnation: newId,
      async open(incarnation) {
        const opened = await measureStart(() => retryUnavailable(() => open(incarnation), maxAttempts));
        await onOpened?.(opened).catch(async (error: unknown) => {
          await opened.close();
          throw error;
        });
        return opened;
      },
    }),
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots].map(inside),
    ...(policy.network === "proxy" && { allowedDomains }),
    onConnectionBlocked(listener) {
      onDenied = listener;
    },
  };
}

const retryDelayMs = 200;

async function retryUnavailable<Opened>(open: () => Promise<Opened>, maxAttempts: number): Promise<Opened> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof SandboxUnavailable) || attempt >= maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    }
  }
}
