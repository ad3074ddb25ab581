// Repositories below the workspace: what git runs outside after a hostile run, on each back end, as root and as a user.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BackEnd } from "../../../src/sandbox/back-end.ts";
import { installed } from "../../support/installed.ts";
import { buildProgram, serverProgram } from "../../support/server-program.ts";
import { bareSettings, configuredScenarios, linkScenarios, type ScenarioResult, scenarios } from "./scenarios.ts";

const unprivilegedId = 65534;
const isRoot = process.geteuid?.() === 0;
const backEnds: Record<string, BackEnd> = {
  bubblewrap: { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" },
  Landlock: { kind: "landlock", version: 7 },
};
const users = isRoot ? ["root", "an ordinary user"] : ["an ordinary user"];

let directory = "";
beforeAll(async () => {
  // World-readable: the repository may not be.
  directory = mkdtempSync("/var/tmp/nested-programs-");
  chmodSync(directory, 0o755);
  const program = await serverProgram();
  for (const name of ["workspace-server.cjs", "landlock-launcher.cjs"])
    copyFileSync(join(dirname(program), name), join(directory, name));
  cpSync(installed("@koromix"), join(directory, "node_modules/@koromix"), { recursive: true });
  await buildProgram(join(import.meta.dirname, "runner.ts"), join(directory, "runner.mjs"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function playAll(user: string, backEnd: BackEnd): ScenarioResult[] {
  const program = [
    process.execPath,
    join(directory, "runner.mjs"),
    join(directory, "workspace-server.cjs"),
    JSON.stringify(backEnd),
  ];
  const asUser = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
  const [command = "", ...args] = isRoot && user !== "root" ? [...asUser, ...program] : program;
  const run = spawnSync(command, args, { cwd: "/", env: { PATH: process.env.PATH }, encoding: "utf8" });
  if (run.status !== 0) throw new Error(`The scenarios could not be played: ${run.stderr}`);
  return JSON.parse(run.stdout);
}

describe.each(users)("after a run in bubblewrap by %s", (user) => {
  let results: ScenarioResult[] = [];
  beforeAll(() => {
    results = playAll(user, backEnds.bubblewrap as BackEnd);
  });
  const resultOf = (name: string) => results.find((result) => result.name === name) ?? expect.fail(name);

  const all = [...scenarios, ...configuredScenarios];
  test.each(all.map(({ name }) => name))("the user's git commands run nothing planted in %s", (name) => {
    expect(resultOf(name)).toMatchObject({ ran: "", settings: expect.not.stringContaining("evil") });
  });

  test.each(linkScenarios.map(({ name }) => name))("that %s was replaced is reported", (name) => {
    expect(results.find((result) => result.name === name)?.warnings).toContainEqual(
      expect.stringMatching(/^This run changed ".*", which git reads or runs/),
    );
  });

  test("what keeps settings for working trees from being created does not count as a change of the repository", () => {
    expect(resultOf(`${bareSettings} that do not exist`).warnings).toEqual([]);
  });

  test("a new repository is neither staged nor committed, its .git is set aside, and both are reported", () => {
    const { gitlinks, output, warnings } = resultOf("a new repository that is added");
    expect(gitlinks).toBe("");
    expect(output).toContain('"vendor" is a git repository of its own, which the sandbox does not add');
    expect(warnings).toEqual([
      expect.stringMatching(
        /^This run created the git repository in vendor\. Its \.git was renamed to \.git\.untrusted/,
      ),
    ]);
    expect(warnings[0]).toContain("core.fsmonitor");
  });
});

describe.each(users)("after a run under Landlock, which cannot protect .git, by %s", (user) => {
  let results: ScenarioResult[] = [];
  beforeAll(() => {
    results = playAll(user, backEnds.Landlock as BackEnd);
  });
  const replaced = scenarios.filter(({ name }) => !/settings are changed|hooks are kept/.test(name));

  test.each(replaced.map(({ name }) => name))("the user's git commands run nothing planted in %s", (name) => {
    expect(results.find((result) => result.name === name)).toMatchObject({
      ran: "",
      warnings: expect.arrayContaining([expect.stringMatching(/^This run created the git repository in /)]),
    });
  });

  test.each(configuredScenarios.map(({ name }) => name))("changes of %s are reported", (name) => {
    expect(results.find((result) => result.name === name)?.warnings).toContainEqual(
      expect.stringMatching(
        /^This run changed ".*", which git reads or runs because settings of the repository name it/,
      ),
    );
  });

  test.each(linkScenarios.map(({ name }) => name))("that %s was replaced is reported", (name) => {
    expect(results.find((result) => result.name === name)?.warnings).toContainEqual(
      expect.stringMatching(/^This run changed ".*", which git reads or runs/),
    );
  });

  test("hooks for a submodule that is not checked out are reported", () => {
    const { warnings } = results.find(({ name }) => name.includes("hooks are kept")) ?? expect.fail();
    expect(warnings).toEqual([expect.stringMatching(/^This run changed the git repository in the workspace\./)]);
  });

  test("settings that were changed in a submodule are reported by name", () => {
    const { warnings } = results.find(({ name }) => name.endsWith("whose settings are changed")) ?? expect.fail();
    expect(warnings).toEqual([expect.stringMatching(/^This run changed the git repository in lib\..*core\.fsmonitor/)]);
  });

  test.each([
    ["a bare repository", "stored"],
    ["a repository behind a .git that is a link", "kept/linked"],
  ])("settings that were changed in %s are reported by name", (start, directory) => {
    const { warnings } =
      results.find(({ name }) => name.startsWith(start) && name.includes("of which")) ?? expect.fail();
    const isNamed = (warning: string) => warning.includes(`the git repository in ${directory}.`);
    expect(warnings.find(isNamed)).toContain("core.fsmonitor");
  });
});
