import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryRepository } from "@agentcli/testkit";
import { parse } from "smol-toml";
import { describe, expect, onTestFinished, test } from "vitest";
import { openContext } from "../../../cli/src/config/context.ts";
import { temporaryHome } from "../../../cli/test/session-files.ts";
import type { OpenPart } from "../../src/method.ts";
import { openModels } from "../../src/methods/models.ts";
import { openSkillsAndHooks } from "../../src/methods/skills-and-hooks.ts";
import { openHarness, testProgram } from "./harness.ts";

async function openFixture(open: OpenPart, files: Record<string, string> = {}) {
  const temporary = await temporaryRepository({ "README.md": "", ...files });
  onTestFinished(temporary.remove);
  const home = await temporaryHome();
  const made = await openHarness(open, { home, cwd: temporary.path });
  return {
    ...made,
    home,
    cwd: temporary.path,
    configure: (text: string) => writeFileSync(join(home, "config.toml"), text),
  };
}

describe("models", () => {
  test("are those of the current configuration, in pages on request", async () => {
    const { call, configure } = await openFixture(openModels);
    const { data, nextCursor } = await call("model/list", {});
    expect(nextCursor).toBeNull();
    expect(data[0]).toMatchObject({ id: "gpt-5.4", isDefault: true, hidden: false, defaultReasoningEffort: "medium" });
    expect(data.filter(({ isDefault }) => isDefault)).toHaveLength(1);
    expect(data.at(-1)).toMatchObject({ id: "practice", supportedReasoningEfforts: [] });
    expect(data.some(({ hidden }) => hidden)).toBe(false);
    expect((await call("model/list", { includeHidden: true })).data.map(({ id }) => id)).toContain("gpt-4o");

    const first = await call("model/list", { limit: 2 });
    const second = await call("model/list", { limit: 2, cursor: first.nextCursor });
    expect([...first.data, ...second.data]).toEqual(data.slice(0, 4));
    for (const cursor of ["x", "-1", "99999"])
      await expect(call("model/list", { cursor })).rejects.toMatchObject({ code: rpcCodes.invalidParams });

    configure('model = "mine"\nmodel_provider = "own"\n[model_providers.own]\nbase_url = "http://127.0.0.1:1"\n');
    expect((await call("model/list", {})).data.map(({ id }) => id)).toEqual(["mine", "practice"]);
    configure('model_provider = "missing"\n');
    await expect(call("model/list", {})).rejects.toThrow('Unknown model provider "missing"');
  });

  test("use no tools of their provider", async () => {
    const { call } = await openFixture(openModels);
    expect(Object.values(await call("modelProvider/capabilities/read", {}))).toEqual([false, false, false]);
  });

  test("come with features that are on or off as configured", async () => {
    const { call, configure } = await openFixture(openModels);
    const hooks = async () => (await call("experimentalFeature/list", {})).data.find(({ name }) => name === "hooks");
    expect(await hooks()).toMatchObject({ stage: "stable", enabled: true, defaultEnabled: true });
    configure("[features]\nhooks = false\n");
    expect(await hooks()).toMatchObject({ enabled: false });
    expect((await call("experimentalFeature/list", { limit: 1 })).data).toHaveLength(1);
  });
});

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`;

describe("skills", () => {
  const files = { ".agents/skills/one/SKILL.md": skill("one"), ".agents/skills/bad/SKILL.md": "no front matter" };

  test("are listed by directory, with those that cannot be used", async () => {
    const { call, cwd } = await openFixture(openSkillsAndHooks, files);
    const none = join(cwd, "none");
    const { data } = await call("skills/list", { cwds: [cwd, none], forceReload: true });
    const path = join(cwd, ".agents/skills/one/SKILL.md");
    expect(data[0]?.skills).toMatchObject([
      { name: "one", description: "Does one.", path, scope: "repo", enabled: true },
    ]);
    expect(data[0]?.errors).toMatchObject([{ path: join(cwd, ".agents/skills/bad/SKILL.md") }]);
    expect(data[1]).toMatchObject({
      cwd: none,
      skills: [],
      errors: [{ message: expect.stringContaining("not exist") }],
    });
    expect((await call("skills/list", {})).data).toEqual([data[0]]);
  });

  test("are switched off and on again, and are then not listed to the model", async () => {
    const { call, cwd, client, home } = await openFixture(openSkillsAndHooks, files);
    const path = join(cwd, ".agents/skills/one/SKILL.md");
    const enabled = async () => (await call("skills/list", {})).data[0]?.skills[0]?.enabled;
    expect(await call("skills/config/write", { path, enabled: false })).toEqual({ effectiveEnabled: false });
    expect(client.notices).toEqual([{ method: "skills/changed", params: {} }]);
    expect(await enabled()).toBe(false);
    const { environment } = await testProgram({ home, cwd });
    const config = { skills: { config: [{ path, enabled: false }] } };
    const contextOf = (of: object) => openContext({ root: cwd, cwd, config: of, environment, contextWindow: null });
    expect((await contextOf(config).forThread()).catalogues).toEqual([]);
    expect((await contextOf({}).forThread()).catalogues.join()).toContain("Does one.");
    expect((await contextOf(config).forPrompt("$one")).messages).toEqual([]);

    expect(await call("skills/config/write", { name: "one", enabled: true })).toEqual({ effectiveEnabled: true });
    expect(await enabled()).toBe(true);
    expect(await call("skills/config/write", { path, enabled: false })).toEqual({ effectiveEnabled: false });
    expect(parse(readFileSync(join(home, "config.toml"), "utf8"))).toEqual({
      skills: {
        config: [
          { name: "one", enabled: true },
          { path, enabled: false },
        ],
      },
    });
  });

  test("are switched by path or by name, one of them", async () => {
    const { call } = await openFixture(openSkillsAndHooks, files);
    const refused = { code: rpcCodes.invalidParams };
    await expect(call("skills/config/write", { enabled: true })).rejects.toMatchObject(refused);
    await expect(call("skills/config/write", { path: "/a", name: "a", enabled: true })).rejects.toMatchObject(refused);
    await expect(call("skills/config/write", { path: "a", enabled: true })).rejects.toMatchObject(refused);
  });
});

describe("hooks", () => {
  const hooks = {
    hooks: { PreToolUse: [{ matcher: "exec", hooks: [{ type: "command", command: "true", timeout: 5 }] }] },
  };

  test("are listed with their trust, and the errors of a file", async () => {
    const { call, cwd } = await openFixture(openSkillsAndHooks, { ".agentcli/hooks.json": JSON.stringify(hooks) });
    const { data } = await call("hooks/list", {});
    expect(data).toMatchObject([{ cwd, warnings: [], errors: [] }]);
    expect(data[0]?.hooks).toMatchObject([
      {
        eventName: "preToolUse",
        handlerType: "command",
        command: "true",
        matcher: "exec",
        timeoutSec: 5,
        source: "project",
        sourcePath: join(cwd, ".agentcli/hooks.json"),
        enabled: true,
        isManaged: false,
        trustStatus: "untrusted",
        currentHash: expect.stringMatching(/^sha256:/),
      },
    ]);
    writeFileSync(join(cwd, ".agentcli/hooks.json"), "{");
    expect((await call("hooks/list", {})).data[0]?.warnings.join()).toContain("hooks.json");
  });

  test("of a missing directory are an error of that directory only", async () => {
    const { call, cwd } = await openFixture(openSkillsAndHooks);
    const { data } = await call("hooks/list", { cwds: [join(cwd, "none"), cwd] });
    expect(data).toMatchObject([
      { hooks: [], errors: [{ path: join(cwd, "none") }] },
      { cwd, hooks: [], errors: [] },
    ]);
  });
});
