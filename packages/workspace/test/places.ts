// The places a workspace can be opened in, for suites that must hold in all of them.
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { connectWorkspace } from "../src/client/client.ts";
import type { OpenedWorkspace } from "../src/client/lazy.ts";
import { toolEnvironment } from "../src/sandbox/environment.ts";
import { openSandbox } from "../src/sandbox/launch.ts";
import { type PolicyChoice, sandboxPolicy } from "../src/sandbox/policy.ts";
import { openServer } from "../src/server/server.ts";
import { serveWorkspace } from "../src/server/stream.ts";
import { serverProgram } from "./server-program.ts";

export const toolEnv = () => toolEnvironment(process.env, { home: homedir() });

export const temporaryDirectory = () => realpathSync(mkdtempSync(join(tmpdir(), "workspace-test-")));

export type Place = [name: string, open: (root: string) => Promise<OpenedWorkspace>];

export const places: Place[] = [
  ["in this process", async (root) => openHere(root)],
  ["over a byte stream", openOverStream],
  ["inside bubblewrap", (root) => openInside({ mode: "workspace-write", root })],
];

export const openHere = (root: string) =>
  openServer({ root, writable: "anywhere", env: toolEnv(), orphans: "ended-by-watchdog" });

async function openOverStream(root: string): Promise<OpenedWorkspace> {
  const server = openHere(root);
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

export async function openInside(choice: PolicyChoice, env = toolEnv()): Promise<OpenedWorkspace> {
  const options = { serverProgram: await serverProgram(), env, incarnation: randomUUID() };
  return openSandbox(sandboxPolicy(choice), options);
}

/** Opens, lets the story happen, closes and cleans up. */
export async function inPlace(
  open: (root: string) => Promise<OpenedWorkspace>,
  story: (workspace: OpenedWorkspace, root: string) => Promise<void>,
): Promise<void> {
  const root = temporaryDirectory();
  const workspace = await open(root);
  try {
    await story(workspace, root);
  } finally {
    await workspace.close();
    rmSync(root, { recursive: true, force: true });
  }
}
