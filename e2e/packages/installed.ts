// The published packages as tarballs, and an empty folder into which npm installed them.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "@agentcli/testkit";

const run = promisify(execFile);

export const published = ["cli", "platform", "worker", "sdk", "platform-sdk"];

/** Paths of the tarballs, in the order of `published`. */
export async function pack(directory: string): Promise<string[]> {
  mkdirSync(directory, { recursive: true });
  const names: string[] = [];
  for (const name of published) {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", directory], {
      cwd: join(projectRoot, "packages", name),
    });
    names.push(join(directory, readdirSync(directory).find((file) => stdout.includes(`"${file}"`)) ?? name));
  }
  return names;
}

export async function listFiles(tarball: string): Promise<string[]> {
  const { stdout } = await run("tar", ["-tzf", tarball]);
  return stdout.trim().split("\n");
}

export interface InstallOptions {
  /** `none`: npm has its cache alone, which an installation before has filled, and the machine no network at all. */
  network: "allowed" | "none";
  /** The program and its first arguments. */
  npm?: string[];
  flags?: string[];
}

export async function install(directory: string, tarballs: string[], options: InstallOptions): Promise<void> {
  const { network, npm = ["npm"], flags = [] } = options;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"private": true, "type": "module"}');
  const isolated = network === "none" ? ["unshare", "--map-root-user", "--net"] : [];
  const source = network === "none" ? "--offline" : "--prefer-offline";
  const [program = "", ...args] = [...isolated, ...npm, "install", source, "--no-audit", "--no-fund", ...flags];
  await run(program, [...args, ...tarballs], { cwd: directory });
}
