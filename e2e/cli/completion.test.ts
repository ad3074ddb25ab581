import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSystemHarness } from "./system-harness.ts";

test("exit-codes prints the table", async () => {
  const { run } = await openSystemHarness();
  const { stdout } = await run(["exit-codes"]);
  expect(stdout).toMatch(/^ {2}0 {2}the turn completed\n/);
  expect(stdout).toContain("143  SIGTERM\n");
});

describe("completion", () => {
  /** Completions by bash itself; the last word is unfinished. */
  async function completed(words: string[]): Promise<string[]> {
    const { run, elsewhere } = await openSystemHarness();
    const script = join(elsewhere, "completion.bash");
    writeFileSync(script, (await run(["completion", "bash"])).stdout);
    const ask = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agentcli; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = { cwd: elsewhere, encoding: "utf8" } as const;
    return execFileSync("bash", ["--norc", "-uc", ask, "bash", ...words], options)
      .trim()
      .split("\n");
  }

  test.each([
    [["agentcli", "exec", "--mo"], ["--model"]],
    [
      ["agentcli", "ex"],
      ["exit-codes", "exec", "execpolicy"],
    ],
    [["agentcli", "exec", "-m", "exec", "res"], ["resume"]],
    [["agentcli", "e", "resume", "--la"], ["--last"]],
    [["agentcli", "exec", "--sandbox", "w"], ["workspace-write"]],
    [
      ["agentcli", "config", ""],
      ["show", "--help"],
    ],
    [["agentcli", "exec", "--cd", "comp"], [""]],
    [["agentcli", "exec", "-o", "comp"], ["completion.bash"]],
  ])("bash completes %j to %j", async (words, expected) => {
    expect(await completed(words)).toEqual(expected);
  });

  test("zsh and fish scripts name every flag of exec; another shell is refused", async () => {
    const { run } = await openSystemHarness();
    const help = (await run(["help", "exec"])).stdout;
    const flags = [...help.matchAll(/^ {2}(?:-\w, | {4})--([a-z-]+)/gm)].map(([, name]) => name);
    const zsh = (await run(["completion", "zsh"])).stdout;
    const fish = (await run(["completion", "fish"])).stdout;
    for (const flag of flags) {
      expect(zsh).toContain(`'--${flag}:`);
      expect(fish).toContain(` -l ${flag} `);
    }
    expect(await run(["completion", "csh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("bash, zsh, fish"),
    });
  });
});

test("an incomplete command lists its subcommands", async () => {
  const { run } = await openSystemHarness();
  expect(await run(["config"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/config show +Print the/) });
  const help = await run(["mcp", "--help"]);
  expect(help).toMatchObject({ code: 0, stdout: (await run(["mcp"])).stderr });
});
