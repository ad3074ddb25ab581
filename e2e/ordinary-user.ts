// The built program where an ordinary user can run it: a copy that everybody may read, and a desk that is theirs.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ended, ended } from "./harness.ts";

const nobody = 65534;
const house = fileURLToPath(new URL("..", import.meta.url));
const isRoot = process.geteuid?.() === 0;

export interface OrdinaryUser {
  /** Where the packages beside the copy are. */
  modules: string;
  /** Gives a directory and everything in it to the user. */
  own(directory: string): void;
  /** Runs the copy of the program, inside another program when one is given. */
  run(args: string[], options: { cwd: string; env: Record<string, string>; inside?: string[] }): Promise<Ended>;
  remove(): void;
}

export function ordinaryUser(): OrdinaryUser {
  const directory = mkdtempSync("/var/tmp/agentcli-e2e-");
  chmodSync(directory, 0o755);
  for (const name of ["bin", "dist"])
    cpSync(join(house, "packages/cli", name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, "node_modules"));
  for (const name of ["koffi", "@koromix", "@lydell"])
    cpSync(join(house, "node_modules", name), join(directory, "node_modules", name), { recursive: true });
  spawnSync("chmod", ["-R", "a+rX", directory]);
  const lowered = isRoot ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"] : [];
  return {
    modules: join(directory, "node_modules"),
    own(path) {
      if (!isRoot) return;
      const below = readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
      for (const each of [path, ...below]) chownSync(each, nobody, nobody);
    },
    run(args, { cwd, env, inside = [] }) {
      const [command = "", ...rest] = [
        ...lowered,
        ...inside,
        process.execPath,
        join(directory, "bin/agentcli.cjs"),
        ...args,
      ];
      return ended(spawn(command, rest, { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
