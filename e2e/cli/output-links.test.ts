// What agentcli writes to a file in the workspace does not go through a link that an agent has put there.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openTmux } from "../support/terminal.ts";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { pathWithoutNamespaces } from "./without-namespaces.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

const backEnds = { bubblewrap: () => process.env.PATH ?? "", Landlock: pathWithoutNamespaces };

async function open(as: "this user" | "an ordinary user", cmd: (own: string) => string) {
  const directory = mkdtempSync(join(tmpdir(), "output-links-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const own = join(directory, "profile");
  writeFileSync(own, "of the user\n");
  const harness = await openHarness({ replies: [call("exec_command", { cmd: cmd(own) }), replyWith("For the file.")] });
  const { repository, home } = harness;
  if (as === "an ordinary user") for (const each of [repository, home, directory]) user.own(each);
  const run = (args: string[], PATH = process.env.PATH ?? "") =>
    as === "this user"
      ? harness.run(args, { env: { PATH } })
      : user.run(args, { cwd: repository, env: { PATH, HOME: home, AGENT_HOME: home, SHELL: "/bin/bash" } });
  return { ...harness, own, run };
}

describe.each(["this user", "an ordinary user"] as const)("for %s", (as) => {
  test.each(["bubblewrap", "Landlock"] as const)(
    "the final message does not go through a link that an agent in %s put in the place of -o FILE",
    async (name) => {
      const { repository, own, run } = await open(as, (target) => `ln -s ${target} answer.txt`);
      const flags = ["exec", "-s", "workspace-write", "--sandbox-min", "landlock", "-o", "answer.txt"];
      const { code, stdout, stderr } = await run([...flags, "go on"], backEnds[name]());
      expect(lstatSync(join(repository, "answer.txt")).isSymbolicLink()).toBe(true);
      expect([code, stdout, stderr]).toEqual([
        0,
        "For the file.\n",
        expect.stringContaining("answer.txt is a link in the workspace, and an agent may have made it"),
      ]);
      expect(readFileSync(own, "utf8")).toBe("of the user\n");
    },
  );

  test("a link of an earlier run is not followed: not by -o, not by an export, not by init", async () => {
    const { repository, own, run, requests } = await open(as, () => "true");
    symlinkSync(own, join(repository, "answer.txt"));
    mkdirSync(join(repository, "docs"));
    symlinkSync(join(own, ".."), join(repository, "docs/out"));
    symlinkSync(join(own, "../AGENTS.md"), join(repository, "AGENTS.md"));
    for (const file of ["answer.txt", "docs/out/profile"])
      expect(await run(["exec", "-o", file, "go on"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("is a link in the workspace"),
      });
    expect(requests()).toEqual([]);
    expect(await run(["init"])).toMatchObject({ code: 2, stderr: expect.stringContaining("reached through a link") });
    rmSync(join(repository, "AGENTS.md"));
    expect(await run(["exec", "go on"])).toMatchObject({ code: 0 });
    const [id = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec((await run(["sessions", "list", "--json"])).stdout) ?? [];
    expect(await run(["sessions", "export", id, "-o", "answer.txt"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is a link in the workspace"),
    });
    expect(readFileSync(own, "utf8")).toBe("of the user\n");
  });
});

test("a pipe that an agent put in the place of -o FILE does not keep the run from ending", async () => {
  const { run } = await open("this user", () => "mkfifo answer.txt");
  const ended = await run(["exec", "-s", "workspace-write", "-o", "answer.txt", "go on"]);
  expect(ended.stdout).toBe("For the file.\n");
  expect(ended.stderr).toContain("answer.txt is a pipe that no program reads");
});

test("/export of the terminal interface does not go through a link or into a pipe that an agent put there", async () => {
  const { repository, home, own, run } = await open("this user", (target) => `ln -s ${target} a.md; mkfifo b.md`);
  expect(await run(["exec", "-s", "workspace-write", "go on"])).toMatchObject({ code: 0 });
  symlinkSync(join(own, ".."), join(repository, "docs"));
  const env = { AGENT_HOME: home };
  const terminal = openTmux({ args: ["resume", "--last"], cwd: repository, env, columns: 200 });
  await expect.poll(terminal.screen).toContain("For the file.");
  for (const [file, refusal] of [
    ["a.md", "a.md is a link in the workspace"],
    ["docs/profile", "docs is a link in the workspace"],
    ["b.md", "b.md is a pipe that no program reads"],
    ["c.md", "Written to"],
  ] as const) {
    terminal.type(`/export ${file}`);
    terminal.keys("Enter");
    await expect.poll(terminal.history).toContain(refusal);
  }
  expect(readFileSync(own, "utf8")).toBe("of the user\n");
  expect(readFileSync(join(repository, "c.md"), "utf8")).toContain("For the file.");
});

test("init writes into no pipe that an agent put in the place of AGENTS.md", async () => {
  const { repository, run } = await open("this user", () => "true");
  execFileSync("mkfifo", [join(repository, "AGENTS.md")]);
  expect(await run(["init", "--force"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("AGENTS.md is not a file. Remove it first."),
  });
});

test("a link of the user outside of the workspace is followed", async () => {
  const { home, own, run } = await open("this user", () => "true");
  symlinkSync(own, join(home, "last.txt"));
  expect(await run(["exec", "-o", join(home, "last.txt"), "go on"])).toMatchObject({ code: 0 });
  expect(readFileSync(own, "utf8")).toBe("For the file.");
});
