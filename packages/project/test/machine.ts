// A machine for one test: a system directory, an agent home and a repository, with the given files.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import type { ConfigRequest } from "../src/index.ts";

export interface Machine {
  home: string;
  system: string;
  repository: string;
  git(...args: string[]): Promise<string>;
  /** Files by path below one of the three: `home/config.toml`, `system/requirements.toml`, `repository/a/b.txt`. */
  write(files: Record<string, string>): void;
  pathOf(name: string): string;
  request(more?: Partial<ConfigRequest>): ConfigRequest;
}

export async function machine(files: Record<string, string> = {}): Promise<Machine> {
  const directory = await temporaryDirectory();
  const repository = await temporaryRepository();
  onTestFinished(async () => {
    await repository.remove();
    await directory.remove();
  });
  const home = join(directory.path, "home");
  const system = join(directory.path, "system");
  const roots: Record<string, string> = { home, system, repository: repository.path };
  for (const directory of [home, system]) mkdirSync(directory);
  const pathOf = (name: string) => {
    const [root = "", ...rest] = name.split("/");
    return join(roots[root] ?? "", ...rest);
  };
  const write = (more: Record<string, string>) => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(pathOf(name)), { recursive: true });
      writeFileSync(pathOf(name), text);
    }
  };
  write(files);
  return {
    home,
    system,
    repository: repository.path,
    git: repository.git,
    write,
    pathOf,
    request: (more = {}) => ({
      home,
      systemDirectory: system,
      requirementFiles: [join(system, "requirements.toml"), join(home, "requirements.toml")],
      cwd: repository.path,
      overrides: [],
      flags: [],
      unknownKeys: "warn",
      userConfig: "read",
      projectTrust: "configured",
      ...more,
    }),
  };
}

export const trusted = (path: string): string => `\n[projects.${JSON.stringify(path)}]\ntrust_level = "trusted"\n`;
