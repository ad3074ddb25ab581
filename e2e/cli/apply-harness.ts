// A working tree, and a platform whose only agent has made a patch for it.
import { execFile, execFileSync, spawn } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { cliProgram, type ProcessResult, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { onTestFinished } from "vitest";

export const agentId = "bc-00000000-0000-4000-8000-000000000001";

export type Made = string | Buffer | object[];

export interface Tree {
  /** The parent of the repository, to check that nothing changes there. */
  home: string;
  root: string;
  sh(script: string): string;
  /** A list of items is the response of the platform as it is. */
  apply(patch: Made, folder?: string, ...flags: string[]): Promise<ProcessResult>;
  start(patch: string): Promise<{ kill(): void; ended: Promise<unknown> }>;
  /** What `cloud diff` prints. */
  diff(patch: Buffer): Promise<Buffer>;
}

/** A repository with the files f and sub/s, and a platform whose only agent has made the given patch. */
export async function tree(setup = ""): Promise<Tree> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const root = join(home.path, "tree");
  mkdirSync(root);
  const identity = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "a@example.com" };
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: join(home.path, "home"),
    ...identity,
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  const sh = (script: string) => execFileSync("sh", ["-ec", script], { cwd: root, env, encoding: "utf8" });
  sh(`git init -q; printf 'a\\nb\\nc\\n' > f; mkdir sub; echo s > sub/s; git add -A; git commit -qm x; ${setup}`);
  let made: Made = "";
  const url = await answering((path) => (path.endsWith("/diff") ? diffOf(made) : { id: agentId, status: "IDLE" }));
  const access = { ...env, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: "key" };
  const launch = (folder: string, flags: string[] = []) =>
    spawn(process.execPath, [cliProgram, "apply", ...flags, agentId], {
      cwd: join(root, folder),
      env: access,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  return {
    home: home.path,
    root,
    sh,
    apply(patch, folder = "", ...flags) {
      made = patch;
      return waitForExit(launch(folder, flags));
    },
    async start(patch) {
      made = patch;
      const child = launch("");
      return { kill: () => process.kill(-(child.pid ?? 0), "SIGKILL"), ended: waitForExit(child) };
    },
    async diff(patch) {
      made = patch;
      const options = { cwd: root, env: access, encoding: "buffer" } as const;
      return (await promisify(execFile)(process.execPath, [cliProgram, "cloud", "diff", agentId], options)).stdout;
    },
  };
}

const diffOf = (made: Made) => ({ items: Array.isArray(made) ? made : [itemOf("host/o/r", made)] });

export function itemOf(repoUrl: string, patch: string | Buffer): object {
  const written =
    typeof patch === "string" ? { encoding: "utf-8", patch } : { encoding: "base64", patch: patch.toString("base64") };
  return { repoUrl, baseBranch: "main", baseCommit: "0".repeat(40), branch: "b", ...written };
}

export async function answering(answer: (path: string) => unknown): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(url)));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** Every file, link and folder with its content, including the git index. */
export function everything(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) Object.assign(found, { [path]: "directory" }, everything(path));
    else if (stats.isSymbolicLink()) found[path] = `to ${readlinkSync(path)}`;
    else found[path] = `${stats.mode.toString(8)} ${readFileSync(path, "latin1")}`;
  }
  return found;
}

/** The patch of a new file with one line. */
export const add = (path: string, mode = "100644"): string =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
