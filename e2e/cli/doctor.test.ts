import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSystemHarness } from "./system-harness.ts";

describe("doctor", () => {
  test("finds no problem where a run would start, and does not print the key", async () => {
    const { run, repository } = await openSystemHarness();
    const env = { MY_KEY: "s3cret-value" };
    const args = ["doctor", "-c", "model_providers.scripted.env_key=MY_KEY"];
    const { code, stdout } = await run(args, { env });
    expect(code).toBe(0);
    for (const found of [repository, "from environment variable MY_KEY", "read-only (bubblewrap", "would start"])
      expect(stdout).toContain(found);
    expect(stdout).not.toContain("s3cret-value");
  });

  test("lists skills, commands and agents, those of other tools too, and why some are not used", async () => {
    const { run, repository } = await openSystemHarness();
    const write = (path: string, text: string) => {
      mkdirSync(join(repository, path, ".."), { recursive: true });
      writeFileSync(join(repository, path), text);
    };
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nDo it.\n`;
    write(".agents/skills/own/SKILL.md", skill("own"));
    write(".claude/skills/own/SKILL.md", skill("own"));
    write(".claude/skills/off/SKILL.md", skill("off"));
    write(".codex/skills/broken/SKILL.md", "text\n");
    write(".claude/commands/fix.md", "Fix $1.\n");
    write(".claude/agents/critic.md", `${skill("critic").replace("description", "model: opus\ndescription")}`);
    const off = ["-c", 'skills.config=[{name="off",enabled=false}]'];
    const { code, stdout } = await run(["doctor", ...off]);
    expect(code).toBe(0);
    for (const line of [
      /^ok {4}skills +own$/m,
      /^ok {4}commands +\/fix$/m,
      /^ok {4}agents +critic$/m,
      /^warn {2}skills .*\.claude\/skills\/own\/SKILL\.md: not used: .*\.agents\/skills\/own/m,
      /^warn {2}skills .*off\/SKILL\.md: not used: off is switched off in skills\.config$/m,
      /^warn {2}skills .*\.codex\/skills\/broken\/SKILL\.md:1: it does not begin with front matter/m,
      /^warn {2}agents .*critic\.md: model opus is ignored/m,
    ])
      expect(stdout).toMatch(line);
    const { stdout: without } = await run(["doctor", "-c", "compatible_folders=false"]);
    expect(without).toMatch(/^warn {2}other tools {4}not read: .*\.codex\/skills, .*\.claude\/agents$/m);
    expect(without).not.toContain("critic");
  });

  test.each([
    ["a missing key", ["-c", "model_provider=openai"], "credential"],
    ["an unknown provider", ["-c", "model_provider=nowhere"], "provider"],
    ["a broken value", ["-c", "sandbox_mode=maybe"], "configuration"],
    ["a missing directory", ["-C", "missing"], "configuration"],
  ])("%s ends with exit code 1 and how to fix it", async (_, args, name) => {
    const { run } = await openSystemHarness();
    const { code, stdout } = await run(["doctor", "--json", ...args]);
    expect(code).toBe(1);
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(findings).toContainEqual({ name, status: "fail", detail: expect.any(String), mend: expect.any(String) });
  });

  test("a directory outside any repository is a problem; without bubblewrap the next back end is named", async () => {
    const { run, elsewhere } = await openSystemHarness();
    const { code, stdout } = await run(["doctor"], { cwd: elsewhere, env: { PATH: elsewhere } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/fail {2}repository .*\n +to fix: run git init, or use --skip-git-repo-check/);
    expect(stdout).toMatch(/ok {4}sandbox +read-only \(landlock/);
    expect(stdout).toMatch(/warn {2}git +not found/);
  });
});
