// A clone of a repository like this one, with nothing to download, and its set-up.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

export const manifest = { name: "clone", version: "1.0.0", workspaces: ["packages/*"] };

const tools = [
  "bwrap",
  "git",
  "curl",
  "perl",
  "tmux",
  "ssh",
  "python3",
  "sudo",
  "go",
  "cargo",
  "oathtool",
  "chromium",
  "buildah",
  "rg",
];

/** A clone with nothing to download, whose build leaves a mark. */
export function plantClone() {
  const planted = plantRepository({
    "package.json": JSON.stringify(manifest),
    "packages/cli/package.json": '{"name": "cli", "version": "1.0.0"}',
    "package-lock.json": JSON.stringify({
      ...{ name: "clone", version: "1.0.0", lockfileVersion: 3 },
      packages: {
        "": manifest,
        "node_modules/cli": { resolved: "packages/cli", link: true },
        "packages/cli": { version: "1.0.0" },
      },
    }),
    "packages/cli/src/a.ts": "export {};",
    "scripts/build.mjs": 'import { mkdirSync } from "node:fs"; mkdirSync("packages/cli/dist", { recursive: true });',
    ...Object.fromEntries(tools.map((name) => [`bin/${name}`, "#!/bin/sh\n"])),
  });
  for (const name of tools) chmodSync(join(planted.root, "bin", name), 0o755);
  for (const script of ["setup.mjs", "system-tools.mjs", "locked.mjs"])
    cpSync(join(repositoryRoot, "scripts", script), join(planted.root, "scripts", script));
  return planted;
}

export function setUp(root: string, env: NodeJS.ProcessEnv = {}) {
  const path = `${process.env.PATH}:${join(root, "bin")}`;
  const run = spawnSync(process.execPath, ["scripts/setup.mjs"], {
    cwd: root,
    env: { ...process.env, PATH: path, ...env },
    encoding: "utf8",
  });
  return { status: run.status, output: run.stdout, errors: run.stderr };
}

export function changeLock(root: string, change: (packages: Lock["packages"]) => Lock["packages"]): void {
  const path = join(root, "package-lock.json");
  const lock: Lock = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...lock, packages: change(lock.packages) }));
}

export interface Lock {
  packages: Record<string, object>;
}
