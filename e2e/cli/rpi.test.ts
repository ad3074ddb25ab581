import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSample, type RpiHarness } from "./rpi-harness.ts";

const task = "fix the failing test, then create NOTES.md containing Pages are whole";
const steps = ["fix the failing test", "create NOTES.md containing Pages are whole"];

/** The plan as of each commit since the start, oldest first. */
async function plansOf({ git }: RpiHarness, path: string): Promise<string[]> {
  const commits = (await git("rev-list", "--reverse", "HEAD")).trim().split("\n").slice(1);
  return Promise.all(commits.map((commit) => git("show", `${commit}:${path}`)));
}

const boxes = (plan: string) => [...plan.matchAll(/^- \[(.)\]/gm)].map(([, box]) => box).join("");

describe.each([
  { dialect: "agentcli", folder: "", option: "" },
  { dialect: "platform", folder: "docs/rpi/", option: "--dialect platform" },
])("research, plan, implement in the dialect $dialect", ({ folder, option, dialect }) => {
  const skill = `${dialect === "platform" ? ".platform" : ".agents"}/skills/rpi-research/SKILL.md`;

  test("researches, plans, and checks and commits one step at a time until the tests pass", async () => {
    const sample = await openSample();
    const result = await sample.shell(`agentcli init rpi ${option} && ./rpi "${task}"`);
    expect(result, result.stdout).toMatchObject({ code: 0, stderr: expect.stringContaining("All steps of") });
    expect(sample.read(`${folder}RESEARCH.md`)).toMatch(/## Risks[\s\S]*## Recommendation\n\nGO/);
    expect(sample.read(`${folder}PLAN.md`)).toContain(steps.map((step) => `- [x] ${step}`).join("\n"));
    expect((await plansOf(sample, `${folder}PLAN.md`)).map(boxes)).toEqual(["x ", "xx"]);
    expect((await sample.git("log", "--reverse", "--format=%s")).trim().split("\n")).toEqual(["Start", ...steps]);
    expect(sample.read("NOTES.md")).toBe("Pages are whole\n");
    expect(await sample.git("status", "--porcelain")).toBe("");
    expect(await sample.shell("npm test")).toMatchObject({ code: 0 });
    const events = readFileSync(join(sample.repository, ".git/rpi/step-2.jsonl"), "utf8").trim().split("\n");
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "turn.completed" });
  });

  test("stops before the plan if research does not recommend GO", async () => {
    const sample = await openSample();
    await sample.shell(`agentcli init rpi ${option}`);
    sample.write(skill, sample.read(skill).replace("(GO or NO-GO", "(NO-GO or GO"));
    const result = await sample.shell('./rpi "fix the failing test"');
    expect(result).toMatchObject({ code: 20, stderr: expect.stringContaining("does not recommend GO (NO-GO)") });
    expect(existsSync(join(sample.repository, `${folder}PLAN.md`))).toBe(false);
    expect((await sample.git("rev-list", "--count", "HEAD")).trim()).toBe("1");
  });
});

test("the hook that init wrote and trusted refuses writes to migrations", async () => {
  for (const option of ["", "--dialect platform"]) {
    const sample = await openSample();
    await sample.shell(`rm -r .agentcli && git commit -qam "No hooks"; agentcli init rpi ${option}`);
    const { stdout } = await sample.shell(
      'agentcli exec --json -s workspace-write "run echo x > migrations/002.sql"; agentcli hooks list',
    );
    expect(stdout).toMatch(/"type":"hook".*"status":"blocked"/);
    expect(stdout).not.toContain("untrusted");
    expect(existsSync(join(sample.repository, "migrations/002.sql"))).toBe(false);
  }
});

test("where agentcli is not installed, the agent is asked once to run the tests itself", () => {
  const hook = fileURLToPath(
    new URL("../../packages/cli/src/init/rpi/files/platform/.platform/hooks/rpi-tests.mjs", import.meta.url),
  );
  const project = mkdtempSync(join(tmpdir(), "agentcli-test-"));
  onTestFinished(() => rmSync(project, { recursive: true }));
  mkdirSync(join(project, "docs/rpi"), { recursive: true });
  writeFileSync(join(project, "docs/rpi/PLAN.md"), "- [x] the first step\n");
  writeFileSync(join(project, "go.mod"), "module sample\n");
  const stop = (asked: number) => {
    const env = { PATH: project, PLATFORM_PROJECT_DIR: project };
    return execFileSync(process.execPath, [hook], {
      env,
      input: JSON.stringify({ loop_count: asked }),
      encoding: "utf8",
    });
  };
  expect(stop(0)).toContain("Run `go test ./...`");
  expect(stop(1)).toBe("{}\n");
});

test("a plan stops after --review and is continued without a task, step by step", async () => {
  const sample = await openSample();
  await sample.shell("agentcli init rpi");
  expect(await sample.shell(`./rpi --review "${task}"`)).toMatchObject({ code: 0 });
  expect(boxes(sample.read("PLAN.md"))).toBe("  ");
  expect(await sample.shell('./rpi "another task"')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("PLAN.md has open steps"),
  });
  sample.write("PLAN.md", `${sample.read("PLAN.md").trimEnd()}\n- [ ] sing a song\n`);
  const stopped = await sample.shell("./rpi");
  expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining("checked no step") });
  expect(boxes(sample.read("PLAN.md"))).toBe("xx ");
  expect((await sample.git("rev-list", "--count", "HEAD")).trim()).toBe("3");
});

test("several tasks run at once, each in a worktree and on a branch of its own", async () => {
  const sample = await openSample();
  expect(await sample.shell('agentcli init rpi && ./rpi "a" "b"')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Commit the files of agentcli init rpi first"),
  });
  await sample.git("add", "-A");
  await sample.git("commit", "-qm", "Workflow");
  const result = await sample.shell('./rpi --jobs 2 "fix the failing test" "sing a song"');
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("rpi/sing-a-song: stopped") });
  expect(result.stderr).toContain("rpi/fix-the-failing-test: done, 1 commits");
  expect((await sample.git("log", "main..rpi/fix-the-failing-test", "--format=%s")).trim()).toBe(
    "fix the failing test",
  );
  expect(await sample.git("status", "--porcelain")).toBe("");
  expect(await sample.git("diff", "main", "rpi/fix-the-failing-test", "--", "src")).toContain("+  const last");
  expect(await sample.git("worktree", "list")).toMatch(/sing-a-song/);
  expect(await sample.git("worktree", "list")).not.toMatch(/fix-the-failing-test/);
});

test("nothing is done while the hooks of the workflow are not trusted", async () => {
  const sample = await openSample();
  await sample.shell("agentcli init rpi && agentcli hooks untrust --all");
  expect(await sample.shell('./rpi "fix the failing test"')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("These hooks are not trusted"),
  });
  expect(existsSync(join(sample.repository, "RESEARCH.md"))).toBe(false);
});

test("research that changes other files ends the work", async () => {
  const sample = await openSample();
  await sample.shell("agentcli init rpi");
  const skill = ".agents/skills/rpi-research/SKILL.md";
  sample.write(skill, sample.read(skill).replace("3. Answer", "3. Create src/early.js containing early.\n4. Answer"));
  const result = await sample.shell('./rpi "fix the failing test"');
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("src/early.js") });
});

test("init rpi keeps files that say something else, extends hooks files and can be repeated", async () => {
  const sample = await openSample();
  mkdirSync(join(sample.repository, ".agents/skills/rpi-plan"), { recursive: true });
  sample.write(".agents/skills/rpi-plan/SKILL.md", "mine\n");
  const refused = await sample.shell("agentcli init rpi");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("  .agents/skills/rpi-plan/SKILL.md\n") });
  expect(existsSync(join(sample.repository, "rpi"))).toBe(false);
  sample.write(
    ".agentcli/hooks.json",
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo mine"}]}]}}',
  );
  const forced = await sample.shell("agentcli init rpi --force");
  expect(forced).toMatchObject({ code: 0, stdout: expect.stringContaining("extended  .agentcli/hooks.json") });
  const hooks = JSON.parse(sample.read(".agentcli/hooks.json")).hooks;
  expect(Object.keys(hooks)).toEqual(["Stop", "PreToolUse"]);
  expect((await sample.shell("agentcli hooks list")).stdout).toMatch(/^untrusted.*Stop[\s\S]*^trusted.*PreToolUse/m);
  const repeated = await sample.shell("agentcli init rpi");
  expect(repeated.stdout).not.toMatch(/wrote|extended|replaced|trusted/);
});

test("init rpi writes nothing through a link that leads out of the repository", async () => {
  const sample = await openSample();
  rmSync(join(sample.repository, ".agents"), { recursive: true });
  symlinkSync(sample.home, join(sample.repository, ".agents"));
  expect(await sample.shell("agentcli init rpi")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is reached through a link"),
  });
  expect(existsSync(join(sample.home, "skills"))).toBe(false);
});
