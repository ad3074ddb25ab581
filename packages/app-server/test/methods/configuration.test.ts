import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryRepository } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openConfiguration } from "../../src/methods/configuration.ts";
import { openHarness } from "./harness.ts";

async function openFixture(files: Record<string, string> = {}, overrides: string[] = []) {
  const temporary = await temporaryRepository({ "README.md": "", ...files });
  onTestFinished(temporary.remove);
  const home = join(temporary.path, "home");
  mkdirSync(home, { recursive: true });
  const invocation = {
    positionals: [],
    has: () => false,
    text: () => undefined,
    list: (flag: string) => (flag === "config" ? overrides : []),
  };
  const made = await openHarness(openConfiguration, { home, cwd: temporary.path, invocation });
  const file = join(home, "config.toml");
  return { ...made, file, cwd: temporary.path, text: () => readFileSync(file, "utf8") };
}

const replace = { mergeStrategy: "replace" } as const;
const trusting = (cwd: string) => `[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`;

describe("the configuration", () => {
  test("is read with the layer each value comes from", async () => {
    const { call, file, cwd } = await openFixture({ ".agentcli/config.toml": 'review_model = "r"\n' }, [
      "limits.idle=7s",
    ]);
    writeFileSync(file, `model = "mine"\n${trusting(cwd)}`);
    const { config, origins, layers } = await call("config/read", { includeLayers: true });
    expect(config).toMatchObject({
      model: "mine",
      review_model: "r",
      sandbox_mode: "read-only",
      limits: { idle: "7s" },
    });
    const folder = join(cwd, ".agentcli");
    expect(origins.model).toEqual({ name: { type: "user", file }, version: expect.stringMatching(/^sha256:/) });
    expect(origins.review_model?.name).toEqual({ type: "project", dotAgentcliFolder: folder, dotCodexFolder: folder });
    expect(origins["limits.idle"]?.name).toEqual({ type: "sessionFlags" });
    expect(origins.sandbox_mode).toBeUndefined();
    expect(layers?.map(({ name }) => name.type)).toEqual(["sessionFlags", "project", "user"]);
    expect(layers?.at(-1)).toMatchObject({ version: origins.model?.version, config: { model: "mine" } });
    expect(await call("config/read", {})).not.toHaveProperty("layers");
  });

  test("of a project that is not trusted is shown as disabled", async () => {
    const { call, cwd } = await openFixture({ "inner/.agentcli/config.toml": 'model = "theirs"\n' });
    const { config, layers } = await call("config/read", { includeLayers: true, cwd: join(cwd, "inner") });
    expect(config.model).not.toBe("theirs");
    expect(layers).toMatchObject([{ disabledReason: expect.stringContaining("not trusted") }]);
  });

  test("that is broken, or of a missing directory, is refused with the reason", async () => {
    const { call, file, cwd } = await openFixture();
    await expect(call("config/read", { cwd: join(cwd, "none") })).rejects.toThrow("does not exist");
    writeFileSync(file, "model = 1\n");
    const refused = { code: rpcCodes.invalidRequest, message: `${file}: model must be string, not a number.` };
    await expect(call("config/read", {})).rejects.toMatchObject(refused);
  });
});

describe("a written value", () => {
  test("takes effect, and the rest of the file is unchanged", async () => {
    const { call, file, text } = await openFixture();
    writeFileSync(file, '# mine\nmodel = "a" # good\n');
    const answer = await call("config/value/write", { keyPath: "model", value: "b", ...replace });
    expect(text()).toBe('# mine\nmodel = "b" # good\n');
    const { config, origins } = await call("config/read", {});
    expect(config.model).toBe("b");
    expect(answer).toEqual({ status: "ok", version: origins.model?.version, filePath: file });
  });

  test("is written together with others or not at all", async () => {
    const { call, text, file } = await openFixture();
    const edits = [
      { keyPath: "limits", value: { idle: "3s" }, mergeStrategy: "upsert" as const },
      { keyPath: "model", value: "m", ...replace },
    ];
    await call("config/batchWrite", { edits, filePath: file });
    expect(text()).toBe('model = "m"\n\n[limits]\nidle = "3s"\n');
    const bad = [
      { keyPath: "model", value: "n", ...replace },
      { keyPath: "limits.idle", value: 3, ...replace },
    ];
    await expect(call("config/batchWrite", { edits: bad })).rejects.toMatchObject({
      data: { config_write_error_code: "configValidationError" },
    });
    expect(text()).toContain('model = "m"');
  });

  test("reports when a higher layer hides it", async () => {
    const { call } = await openFixture({}, ["model=flagged"]);
    expect(await call("config/value/write", { keyPath: "model", value: "b", ...replace })).toMatchObject({
      status: "okOverridden",
      overriddenMetadata: { overridingLayer: { name: { type: "sessionFlags" } }, effectiveValue: "flagged" },
    });
  });

  test("is refused when the file has changed, is another, or the value is not allowed", async () => {
    const { call, file, cwd } = await openFixture({
      "home/requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n',
    });
    const attempt = (more: object) =>
      call("config/value/write", { keyPath: "model", value: "b", ...replace, ...more }).catch((error) => error);
    const codes = [
      [{ expectedVersion: "sha256:old" }, "configVersionConflict"],
      [{ filePath: join(cwd, "other.toml") }, "configLayerReadonly"],
      [{ keyPath: "modle" }, "configSchemaUnknownKey"],
      [{ keyPath: "sandbox_mode", value: "danger-full-access" }, "configRequirementReadonly"],
    ] as const;
    for (const [more, code] of codes) {
      expect(await attempt(more)).toMatchObject({
        code: rpcCodes.invalidRequest,
        data: { config_write_error_code: code },
      });
    }
    expect(existsSync(file)).toBe(false);
  });

  test("can fix a configuration that cannot be read", async () => {
    const { call, file } = await openFixture();
    writeFileSync(file, 'sandbox_mode = "loose"\n');
    await call("config/value/write", { keyPath: "sandbox_mode", value: "read-only", ...replace });
    expect((await call("config/read", {})).config.sandbox_mode).toBe("read-only");
  });
});

test("requirements are read, and are null where there are none", async () => {
  const { call } = await openFixture();
  expect(await call("configRequirements/read", {})).toEqual({ requirements: null });
  const requirements =
    'allowed_sandbox_modes = ["read-only"]\nallow_managed_hooks_only = true\n[features]\nhooks = true\n';
  const strict = await openFixture({ "home/requirements.toml": requirements });
  expect(await strict.call("configRequirements/read", {})).toEqual({
    requirements: {
      allowedSandboxModes: ["read-only"],
      allowManagedHooksOnly: true,
      featureRequirements: { hooks: true },
    },
  });
  const broken = await openFixture({ "home/requirements.toml": "allowed_things = 1\n" });
  await expect(broken.call("configRequirements/read", {})).rejects.toThrow("unknown key allowed_things");
});
