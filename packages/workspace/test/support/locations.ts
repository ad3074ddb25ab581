// The locations a workspace can be opened in, for suites that must pass in all of them.
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { connectWorkspace } from "../../src/client/client.ts";
import { toolEnvironment } from "../../src/environment/tool-environment.ts";
import type { OpenedWorkspace } from "../../src/lifecycle/lazy.ts";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { openServer } from "../../src/server/server.ts";
import { serveWorkspace } from "../../src/server/stream.ts";
import { serverProgram } from "./server-program.ts";

export const toolEnv = () => toolEnvironment(process.env, { home: homedir() });

export const temporaryDirectory = () => realpathSync(mkdtempSync(join(tmpdir(), "workspace-test-")));

/** `directory`: where its files are on this host; absent: at its root. */
export type LocatedWorkspace = OpenedWorkspace & { directory?: string };

export type WorkspaceLocation = [name: string, open: (root: string) => Promise<LocatedWorkspace>];

export const workspaceLocations: WorkspaceLocation[] = [
  ["in this process", async (root) => openInProcess(root)],
  ["over a byte stream", openOverStream],
  ["inside bubblewrap", (root) => openInSandbox({ mode: "workspace-write", root })],
];

export const openInProcess = (root: string) =>
  openServer({ root, writable: "anywhere", env: toolEnv(), orphans: "ended-by-watchdog" });

async function openOverStream(root: string): Promise<OpenedWorkspace> {
  const server = openInProcess(root);
  const [there, back] = [new PassThrough(), new PassThrough()];
  const served = serveWorkspace(server, there, back);
  const workspace = await connectWorkspace({ readable: back, writable: there });
  const close = async () => {
    there.end();
    await served;
    await server.close();
  };
  const { holdOutput, resumeOutput } = server;
  return { ...workspace, holdOutput, resumeOutput, close };
}

export async function openInSandbox(choice: PolicyOptions, env = toolEnv()): Promise<OpenedWorkspace> {
  const options = { serverProgram: await serverProgram(), env, incarnation: randomUUID() };
  return openSandbox(sandboxPolicy(choice), options);
}

export async function openUnderLandlock(choice: PolicyOptions, env = toolEnv()): Promise<OpenedWorkspace> {
  const options = { serverProgram: await serverProgram(), env, incarnation: randomUUID() };
  return openSandbox(sandboxPolicy(choice), { ...options, backEnd: { kind: "landlock", version: 7 } });
}

/** For tables that must hold in each sandbox. */
export const sandboxes: [name: string, open: typeof openInSandbox][] = [
  ["bubblewrap", openInSandbox],
  ["Landlock", openUnderLandlock],
];

/** Opens a workspace, runs the scenario, closes and cleans up. */
export async function withWorkspace(
  open: (root: string) => Promise<LocatedWorkspace>,
  scenario: (workspace: OpenedWorkspace, directory: string) => Promise<void>,
): Promise<void> {
  const root = temporaryDirectory();
  const workspace = await open(root);
  try {
    await scenario(workspace, workspace.directory ?? root);
  } finally {
    await workspace.close();
    rmSync(root, { recursive: true, force: true });
  }
}
