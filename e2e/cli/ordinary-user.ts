// The built program for an ordinary user: a copy that is readable by all, and directories that the user owns.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessResult, waitForExit } from "@agentcli/testkit";

const unprivilegedId = 65534;
const root = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.geteuid?.() === 0;

interface UserRun {
  cwd: string;
  env: Record<string, string>;
  inside?: string[];
  /** Text for standard input, which is empty otherwise. */
  stdin?: string;
}

export interface OrdinaryUser {
  /** The packages beside the copy. */
  modules: string;
  /** Makes the user the owner of a directory and everything in it. */
  own(directory: string): void;
  /** Starts the copy of the program, inside another program when one is given. */
  start(args: string[], options: UserRun): ChildProcess;
  run(args: string[], options: UserRun): Promise<ProcessResult>;
  remove(): void;
}

export function ordinaryUser(): OrdinaryUser {
  const directory = mkdtempSync("/var/tmp/agentcli-e2e-");
  chmodSync(directory, 0o755);
  for (const name of ["bin", "dist"])
    cpSync(join(root, "packages/cli", name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, "node_modules"));
  for (const name of ["@koromix", "@lydell"])
    cpSync(join(root, "node_modules", name), join(directory, "node_modules", name), { recursive: true });
  spawnSync("chmod", ["-R", "a+rX", directory]);
  const lowered = isRoot
    ? ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"]
    : [];
  function start(args: string[], { cwd, env, inside = [], stdin }: UserRun): ChildProcess {
    const program = [process.execPath, join(directory, "bin/agentcli.cjs")];
    const [command = "", ...rest] = [...lowered, ...inside, ...program, ...args];
    const child = spawn(command, rest, { cwd, env, stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
    child.stdin?.end(stdin);
    return child;
  }
  return {
    modules: join(directory, "node_modules"),
    own(path) {
      if (!isRoot) return;
      const below = readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
      for (const each of [path, ...below]) chownSync(each, unprivilegedId, unprivilegedId);
    },
    start,
    run: (args, options) => waitForExit(start(args, options)),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
