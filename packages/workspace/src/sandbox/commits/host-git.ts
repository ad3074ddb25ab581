// Runs git on the host, in a repository the model may have written to: no hooks, no helpers, no network.
import { spawn } from "node:child_process";
import { findProgram, type ProgramSearch, trustedPath } from "../../programs/index.ts";

export interface HostGit {
  /** stdout; throws with stderr if git fails. */
  run(args: string[], input?: Buffer): Promise<string>;
  succeeds(args: string[]): Promise<boolean>;
}

export interface HostGitOptions extends ProgramSearch {
  gitDirectory: string;
}

const timeoutMs = 120_000;

/** As the GIT_CONFIG variables. */
const asVariables = (entries: { key: string; value: string }[]): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(entries.length),
  ...Object.fromEntries(
    entries.flatMap(({ key, value }, index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

/** Without the user's and the system's configuration. */
const environment = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  ...asVariables([
    { key: "core.hooksPath", value: "/dev/null" },
    { key: "core.fsmonitor", value: "false" },
    { key: "gc.auto", value: "0" },
    { key: "maintenance.auto", value: "false" },
    // A look into a submodule would run git there, under its own configuration.
    { key: "submodule.recurse", value: "false" },
    { key: "diff.ignoreSubmodules", value: "all" },
  ]),
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  // For the reflog; the commit itself has its author.
  GIT_COMMITTER_NAME: "agentcli",
  GIT_COMMITTER_EMAIL: "agentcli@localhost",
  LC_ALL: "C",
};

/** Undefined if there is no trusted git. */
export function openHostGit({ gitDirectory, ...search }: HostGitOptions): HostGit | undefined {
  const program = findProgram("git", search);
  if (program === undefined) return undefined;
  const path = trustedPath(search);

  const runGit = async (args: string[], input?: Buffer) => {
    const child = spawn(program, [`--git-dir=${gitDirectory}`, ...args], {
      cwd: gitDirectory,
      env: { ...environment, PATH: path },
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (data: Buffer) => stdout.push(data));
    child.stderr.on("data", (data: Buffer) => stderr.push(data));
    // It may exit before it has read everything; the exit is reported.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString().trim() };
  };

  return {
    async run(args, input) {
      const { code, stdout, stderr } = await runGit(args, input);
      if (code !== 0) throw new Error(stderr || `git ${args[0]} exited with code ${code}.`);
      return stdout;
    },
    succeeds: async (args) => (await runGit(args)).code === 0,
  };
}
