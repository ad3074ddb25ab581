// A copy of the sample repository with agentcli on the PATH and the practice model as its model.
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessResult } from "@agentcli/testkit";
import { cliProgram, projectRoot, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { expect, onTestFinished } from "vitest";

export interface RpiHarness {
  repository: string;
  home: string;
  shell(command: string): Promise<ProcessResult>;
  read(path: string): string;
  write(path: string, text: string): void;
  /** Standard output of git, of a command that must succeed. */
  git(...args: string[]): Promise<string>;
}

export async function openSample(): Promise<RpiHarness> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const [repository, bin, home] = ["repository", "bin", "home"].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [bin, home]) mkdirSync(folder);
  cpSync(join(projectRoot, "examples/sample"), repository, { recursive: true });
  writeFileSync(join(bin, "agentcli"), `#!/bin/sh\nexec "${process.execPath}" "${cliProgram}" "$@"\n`);
  chmodSync(join(bin, "agentcli"), 0o755);
  mkdirSync(join(home, "agent"));
  writeFileSync(join(home, "agent/config.toml"), 'model = "practice"\n');
  writeFileSync(join(home, ".gitconfig"), "[user]\nname = Test\nemail = test@example.com\n");
  const { LANG = "C.UTF-8" } = process.env;
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, AGENT_HOME: join(home, "agent"), LANG };
  const shell = (command: string) => waitForExit(spawn("bash", ["-c", command], { cwd: repository, env }));
  const git = async (...args: string[]) => {
    const result = await waitForExit(spawn("git", args, { cwd: repository, env }));
    expect(result).toMatchObject({ code: 0 });
    return result.stdout;
  };
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("commit", "-q", "-m", "Start");
  return {
    repository,
    home,
    shell,
    git,
    read: (path) => readFileSync(join(repository, path), "utf8"),
    write: (path, text) => writeFileSync(join(repository, path), text),
  };
}
