// Opens a workspace where its policy says: in this process, or inside a sandbox on the back end that was found.
import type { Workspace } from "@agentcli/protocol";
import { connectWorkspace } from "../client/client.ts";
import type { OpenedWorkspace } from "../client/lazy.ts";
import type { DeniedVariables } from "../server/denied-variables.ts";
import type { Environment } from "../server/login-environment.ts";
import type { ServerConfig } from "../server/server.ts";
import type { BackEnd } from "./back-end.ts";
import type { ConfinedProcess } from "./confined-process.ts";
import type { Enclosure, ServerProgram } from "./enclosure.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
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
  denyEnvironment?: DeniedVariables;
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
  const enclosure = await enclose(policy, options);
  try {
    const workspace = await greet(enclosure.process, { ...configOf(policy, options), ...enclosure.config });
    return { ...workspace, close: enclosure.close };
  } catch (error) {
    await enclosure.close();
    throw enclosure.explain(enclosure.process.said()) ?? notStarted(error);
  }
}

async function enclose(policy: SandboxPolicy, options: WorkspaceOptions): Promise<Enclosure> {
  const { serverProgram, nodePath = process.execPath, env } = options;
  const program: ServerProgram = { serverProgram, nodePath, env };
  const backEnd = options.backEnd ?? bubblewrapOnPath(policy, env);
  switch (backEnd.kind) {
    case "bubblewrap":
      return (await import("./enclose-bubblewrap.ts")).encloseWithBubblewrap(policy, backEnd, program);
    case "landlock":
      return (await import("./landlock/enclose.ts")).encloseWithLandlock(policy, program);
    case "seatbelt":
      return (await import("./seatbelt-enclose.ts")).encloseWithSeatbelt(policy, backEnd, program);
  }
}

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
  const { incarnation, warmLoginShell, denyEnvironment } = options;
  return {
    root: policy.root,
    incarnation,
    ...(warmLoginShell && { warmLoginShell }),
    ...(denyEnvironment && { denyEnvironment }),
  };
}

function notStarted(error: unknown): SandboxUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxUnavailable(`The server inside the sandbox did not start. ${reason}`, "Reinstall, or report this.");
}
