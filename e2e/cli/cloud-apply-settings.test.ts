// Settings that an agent of the platform changed and that programs obey here: `agentcli apply` takes them where a flag asks for them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { add, everything, tree } from "./apply-harness.ts";

test.each([
  ".agentcli/config.toml",
  ".agentcli/hooks.json",
  "sub/.AgentCLI/config.toml",
  ".agents/skills/x/SKILL.md",
  ".platform/environment.json",
  ".claude/settings.json",
  ".codex/config.toml",
])("settings in %s are only applied where a flag asks for them, and then named", async (path) => {
  const { root, apply } = await tree();
  const before = everything(root);
  const patch = `${add("g")}${add(path)}`;
  const refused = await apply(patch);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(JSON.stringify(path));
  expect(refused.stderr).toContain("--with-settings");
  expect(everything(root)).toEqual(before);
  const applied = await apply(patch, "", "--with-settings");
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.stderr).toContain(`which obey these files: ${JSON.stringify(path)}.`);
  expect(readFileSync(join(root, path), "utf8")).toBe("x\n");
});

test("instructions for agents and files that git and editors obey are applied and named", async () => {
  const { root, apply } = await tree();
  const names = ["AGENTS.md", "sub/CLAUDE.md", ".gitattributes", ".gitmodules", ".vscode/tasks.json"];
  const { code, stderr } = await apply([add("g"), ...names.map((name) => add(name))].join(""));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const name of names) expect(stderr).toContain(JSON.stringify(name));
  expect(stderr).not.toContain('"g"');
  expect(everything(root)).toHaveProperty([join(root, "g")]);
});
