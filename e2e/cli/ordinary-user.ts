// The built program for an ordinary user: a copy that is readable by all, and directories that the user owns.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessResult, waitForExit } from "@agentcli/testkit";

const unprivilegedId = 65534;
const root = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.geteuid?.() === 0;

export interface OrdinaryUser {
  /** The packages beside the copy. */
  modules: string;
  /** Makes the user the owner of a directory and everything in it. */
  own(directory: string): void;
  /** Runs the copy of the program, inside another program when one is given. */
  run(args: string[], options: { cwd: string; env: Record<string, string>; inside?: string[] }): Promise<ProcessResult>;
  remove(): void;
}

export function ordinaryUser(): OrdinaryUser {
  const directory = mkdtempSync("/var/tmp/agentcli-e2e-");
  chmodSync(directory, 0o755);
  for (const name of ["bin", "dist"])
    cpSync(join(root, "packages/cli", name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, "node_modules"));
  for (const name of ["koffi", "@koromix", "@lydell"])
    cpSync(join(root, "node_modules", name), join(directory, "node_modules", name), { recursive: true });
  spawnSync("chmod", ["-R", "a+rX", directory]);
  const lowered = isRoot
    ? ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"]
    : [];
  return {
    modules: join(directory, "node_modules"),
    own(path) {
      if (!isRoot) return;
      const below = readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
      for (const each of [path, ...below]) chownSync(each, unprivilegedId, unprivilegedId);
    },
    run(args, { cwd, env, inside = [] }) {
      const [command = "", ...rest] = [
        ...lowered,
        ...inside,
        process.execPath,
        join(directory, "bin/agentcli.cjs"),
        ...args,
      ];
      return waitForExit(spawn(command, rest, { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
