import { readFileSync } from "node:fs";
import type { HookDefinition } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isUnchanged,
  readHookFiles,
  trustHash,
  trustHooks,
  trustStatus,
  untrustHooks,
  whySkipped,
} from "../src/hooks/index.ts";
import { readHookFile } from "../src/hooks/read.ts";
import { findHookFiles, loadConfig, readHookStates } from "../src/index.ts";
import { type Machine, machine, trusted } from "./machine.ts";

const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more });
const file = (event: string, ...hooks: object[]): string => JSON.stringify({ hooks: { [event]: [{ hooks }] } });
const toml = (event: string, text: string): string =>
  `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = "${text}"\n`;

async function hooksOf(at: Machine, cwd = at.repository) {
  const loaded = await loadConfig(at.request({ cwd }));
  const files = findHookFiles({ home: at.home, systemDirectory: at.system, cwd, loaded });
  const read = readHookFiles(files, {
    directories: [cwd, at.repository],
    repository: at.repository,
    pinning: "files",
  });
  return {
    ...read,
    loaded,
    given: { states: readHookStates(loaded), hashes: [] as string[], bypass: "none" as const },
  };
}

const commandOf = (hook: HookDefinition): string => ("command" in hook ? hook.command : hook.type);

describe("hooks are found", () => {
  test("from the machine, the user and the project down to the working directory", async () => {
    const at = await machine({
      "system/requirements.toml": toml("Stop", "a"),
      "system/hooks.json": file("Stop", command("b")),
      "system/config.toml": toml("Stop", "c"),
      "home/hooks.json": file("Stop", command("d")),
      "repository/.agentcli/hooks.json": file("Stop", command("f")),
      "repository/inner/.agentcli/hooks.json": file("Stop", command("g")),
      "repository/.platform/hooks.json": JSON.stringify({ version: 1, hooks: { stop: [{ command: "h" }] } }),
      "repository/.agentcli/config.toml": toml("Stop", "i"),
    });
    at.write({ "home/config.toml": toml("Stop", "e") + trusted(at.repository) });
    const { definitions } = await hooksOf(at, at.pathOf("repository/inner"));
    expect(definitions.map((hook) => [commandOf(hook), hook.source.kind])).toEqual([
      ["a", "managed"],
      ["b", "managed"],
      ["c", "managed"],
      ["d", "user"],
      ["e", "user"],
      ["f", "project"],
      ["g", "project"],
      ["h", "project"],
      ["i", "project"],
    ]);
    expect(definitions[7]).toMatchObject({
      dialect: "platform",
      directory: at.repository,
      loopLimit: 5,
      timeoutMs: 60_000,
    });
  });

  test("except those of an untrusted configuration file", async () => {
    const at = await machine({ "repository/.agentcli/config.toml": toml("Stop", "a") });
    expect((await hooksOf(at)).definitions).toEqual([]);
  });

  test.each(["allow_managed_hooks_only = true", "[features]\nhooks = false"])(
    "only of the machine with %s",
    async (text) => {
      const at = await machine({
        "system/requirements.toml": `${text}\n${toml("Stop", "a")}`,
        "home/hooks.json": file("Stop", command("b")),
      });
      expect((await hooksOf(at)).definitions.map(commandOf)).toEqual(["a"]);
    },
  );

  test("in the main checkout of a worktree", async () => {
    const at = await machine({ "repository/.agentcli/hooks.json": file("Stop", command("a")) });
    const tree = at.pathOf("home/tree");
    await at.git("worktree", "add", tree);
    const { definitions } = await hooksOf(at, tree);
    expect(definitions.map(({ key }) => key)).toEqual([`${at.repository}/.agentcli/hooks.json:stop:0:0`]);
  });
});

describe("a definition", () => {
  const read = async (text: string, path = "repository/.agentcli/hooks.json") =>
    hooksOf(await machine({ [path]: text }));

  test("has its defaults, its key and its hash", async () => {
    const at = await machine({
      "repository/.agentcli/hooks.json": file("PreToolUse", command("cat", { timeout: 5 })),
    });
    const { definitions } = await hooksOf(at);
    expect(definitions).toEqual([
      {
        dialect: "agentcli",
        event: "PreToolUse",
        matcher: null,
        command: "cat",
        timeoutMs: 5000,
        failClosed: false,
        loopLimit: null,
        async: false,
        contextTokens: 2500,
        source: { kind: "project", path: at.pathOf("repository/.agentcli/hooks.json") },
        key: `${at.pathOf("repository/.agentcli/hooks.json")}:pre_tool_use:0:0`,
        // sha256 of {"event_name":"pre_tool_use","hooks":[{"async":false,"command":"cat","timeout":5,"type":"command"}]}
        hash: "sha256:4748c16bcf18ce72b5c362aa0bf7c7f99bdf7cfb54ddec1a3d04274b5534d570",
        files: [],
      },
    ]);
  });

  test("keeps its hash however its file is laid out, and in TOML", async () => {
    const hashes = await Promise.all(
      [
        '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":600}]}]}}',
        '{\n "description": "x", "hooks": {"Stop": [{"hooks": [{"command": "a", "async": false, "type": "command"}]}]}}',
      ].map(async (text) => (await read(text)).definitions[0]?.hash),
    );
    const { definitions } = await read(toml("Stop", "a"), "home/config.toml");
    expect(new Set([...hashes, definitions[0]?.hash]).size).toBe(1);
    const other = await read(file("Stop", command("a", { timeout: 601 })));
    expect(hashes).not.toContain(other.definitions[0]?.hash);
  });

  test.each([
    ["SessionEnd", undefined, 1000],
    ["SessionEnd", 60, 3000],
    ["Stop", undefined, 600_000],
    ["Stop", 0.1, 1000],
  ])("of %s with a time-out of %s waits %s ms", async (event, timeout, timeoutMs) => {
    const { definitions } = await read(file(event, command("a", timeout === undefined ? {} : { timeout })));
    expect(definitions[0]).toMatchObject({ timeoutMs });
  });

  test.each([
    ["[]", "must be an object"],
    ["{", "JSON"],
    ['{"hook": {}}', "has an unknown key: hook"],
    ['{"hooks": {"PreToolUs": []}}', "there is no event PreToolUs; did you mean PreToolUse?"],
    ['{"hooks": {"Stop": {}}}', "Stop must be a list"],
    ['{"hooks": {"Stop": [{"matcher": 5, "hooks": []}]}}', "Stop[0].matcher must be text"],
    ['{"hooks": {"Stop": [{"matcher": "(", "hooks": []}]}}', "Stop[0].matcher is not a regular expression: ("],
    [file("Stop", { type: "prompt" }), "Stop[0].hooks[0]: prompt is missing"],
    [file("Stop", { type: "prompt", prompt: "?", model: 5 }), "Stop[0].hooks[0]: model is invalid"],
    [file("Stop", { type: "mcp_tool", server: "a" }), "Stop[0].hooks[0]: tool is missing"],
    [
      file("Stop", { type: "mcp_tool", server: "a", tool: "b", input: [] }),
      "Stop[0].hooks[0]: input must be an object",
    ],
    [file("Stop", { type: "oracle" }), "Stop[0].hooks[0]: type must be one of command, prompt, mcp_tool, agent"],
    [file("Stop", { command: "a" }), "Stop[0].hooks[0]: type must be one of command, prompt, mcp_tool, agent"],
    [file("Stop", command("")), "Stop[0].hooks[0]: command is missing"],
    [file("Stop", command("a", { command: 5 })), "Stop[0].hooks[0]: command is invalid"],
    [file("Stop", command("a", { timeout: "5" })), "Stop[0].hooks[0].timeout is invalid"],
    [file("Stop", command("a", { failClosed: 1 })), "Stop[0].hooks[0].failClosed is invalid"],
  ])("%s is a warning and no hook", async (text, problem) => {
    const { definitions, warnings } = await read(text);
    expect(definitions).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    ["{}", "version must be 1"],
    ['{"version": 1}', "hooks must be an object"],
    ['{"version": 1, "hooks": {"onStop": []}}', "there is no event onStop"],
    ['{"version": 1, "hooks": {"stop": [{}]}}', "stop[0]: command is missing"],
    ['{"version": 1, "hooks": {"stop": [{"command": "a", "loop_limit": 0}]}}', "stop[0].loop_limit is invalid"],
    ['{"version": 1, "hooks": {"stop": [{"command": "a", "matcher": "["}]}}', "is not a regular expression"],
    ['{"version": 1, "hooks": {"stop": [{"type": "prompt"}]}}', "stop[0]: prompt is missing"],
    ['{"version": 1, "hooks": {"stop": [{"type": "agent"}]}}', "stop[0]: type must be one of command, prompt"],
  ])("%s of the other dialect is a warning and no hook", async (text, problem) => {
    const { definitions, warnings } = await read(text, "repository/.platform/hooks.json");
    expect(definitions).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(problem)]);
  });

  test("may be a prompt, in both dialects, or a tool of a server", async () => {
    const at = await machine({
      "repository/.agentcli/hooks.json": file(
        "Stop",
        { type: "prompt", prompt: "done?", model: "small" },
        { type: "mcp_tool", server: "checks", tool: "lint", input: { file: "a" }, timeout: 5 },
      ),
      "repository/.platform/hooks.json": JSON.stringify({
        version: 1,
        hooks: { stop: [{ type: "prompt", prompt: "done?" }] },
      }),
    });
    const { definitions, warnings } = await hooksOf(at);
    expect(warnings).toEqual([]);
    expect(definitions).toMatchObject([
      { dialect: "agentcli", type: "prompt", prompt: "done?", model: "small" },
      { dialect: "agentcli", type: "mcp_tool", server: "checks", tool: "lint", input: { file: "a" }, timeoutMs: 5000 },
      { dialect: "platform", type: "prompt", prompt: "done?", timeoutMs: 60_000 },
    ]);
    expect(new Set(definitions.map(({ hash }) => hash)).size).toBe(3);
  });

  test("of type agent is read and never run; a managed one keeps the run from starting", async () => {
    const hook = { type: "agent", prompt: "look around" };
    const { definitions, given } = await read(file("Stop", hook));
    expect(whySkipped(definitions[0] ?? never, { ...given, bypass: "all" })).toMatch(/^type agent is not run/);
    await expect(read(file("Stop", hook), "system/hooks.json")).rejects.toThrow("type agent is not run");
  });

  test("that is invalid and managed keeps the run from starting", async () => {
    const at = await machine({ "system/requirements.toml": '[[hooks.PreTolUse]]\nmatcher = "a"\n' });
    await expect(hooksOf(at)).rejects.toThrow("there is no event PreTolUse; did you mean PreToolUse?");
  });

  test("of any content is read without a crash", async () => {
    const at = await machine();
    const path = at.pathOf("repository/hooks.json");
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("agentcli" as const, "platform" as const), (value, dialect) => {
        const wrapped = [
          value,
          { hooks: value },
          { version: 1, hooks: { stop: value } },
          { hooks: { Stop: [{ hooks: [value] }] } },
        ];
        for (const json of wrapped) {
          at.write({ "repository/hooks.json": JSON.stringify(json) });
          readHookFile({ kind: "project", dialect, path });
        }
      }),
      { numRuns: Math.min(50, Number(process.env.FUZZ_RUNS ?? 50)) },
    );
  });
});

describe("trust", () => {
  const files = {
    "repository/.agentcli/hooks.json": file("Stop", command("./a.sh"), command("b")),
    "repository/a.sh": "echo a",
    "home/config.toml": '# mine\nmodel = "m"\n\n[limits]\nidle = "5s"\n',
  };

  test("is added without other changes, and removed without a trace", async () => {
    const at = await machine(files);
    const config = at.pathOf("home/config.toml");
    const { definitions } = await hooksOf(at);
    await trustHooks(config, definitions);
    await trustHooks(config, definitions);
    const after = await hooksOf(at);
    expect(after.definitions.map((hook) => trustStatus(hook, after.given))).toEqual(["trusted", "trusted"]);
    expect(readFileSync(config, "utf8")).toContain(files["home/config.toml"]);
    expect(readFileSync(config, "utf8").match(/trusted_hash/g)).toHaveLength(2);
    await untrustHooks(
      config,
      definitions.map(({ key }) => key),
    );
    expect(readFileSync(config, "utf8").trimEnd()).toBe(files["home/config.toml"].trimEnd());
  });

  test("ends with any change of definition or script, and the reason says what to do", async () => {
    const at = await machine(files);
    await trustHooks(at.pathOf("home/config.toml"), (await hooksOf(at)).definitions);
    at.write({ "repository/a.sh": "echo b" });
    const changed = await hooksOf(at);
    expect(changed.definitions.map((hook) => trustStatus(hook, changed.given))).toEqual(["modified", "trusted"]);
    expect(whySkipped(changed.definitions[0] ?? never, changed.given)).toMatch(
      /^changed since it was trusted; .*--trust-hooks sha256:/,
    );
    const [, second] = changed.definitions;
    at.write({ "repository/.agentcli/hooks.json": file("Stop", command("./a.sh"), command("c")) });
    const again = await hooksOf(at);
    expect(again.definitions.map((hook) => trustStatus(hook, again.given))).toEqual(["modified", "modified"]);
    expect(await isUnchanged(second ?? never)).toBe(false);
  });

  test("ends if two trusted scripts change places", async () => {
    const hooks = { "repository/.agentcli/hooks.json": file("Stop", command("./a.sh check; ./b.sh deploy")) };
    const at = await machine({ ...files, ...hooks, "repository/b.sh": "echo b" });
    await trustHooks(at.pathOf("home/config.toml"), (await hooksOf(at)).definitions);
    at.write({ "repository/a.sh": "echo b", "repository/b.sh": "echo a" });
    const { definitions, given } = await hooksOf(at);
    expect(trustStatus(definitions[0] ?? never, given)).toBe("modified");
  });

  test("ends if two scripts change places that are not the first", async () => {
    const hooks = { "repository/.agentcli/hooks.json": file("Stop", command("./a.sh; ./b.sh check; ./c.sh deploy")) };
    const at = await machine({ ...files, ...hooks, "repository/b.sh": "echo b", "repository/c.sh": "echo c" });
    await trustHooks(at.pathOf("home/config.toml"), (await hooksOf(at)).definitions);
    at.write({ "repository/b.sh": "echo c", "repository/c.sh": "echo b" });
    const { definitions, given } = await hooksOf(at);
    expect(trustStatus(definitions[0] ?? never, given)).toBe("modified");
  });

  test("cannot be given by the project itself", async () => {
    const at = await machine(files);
    const [hook] = (await hooksOf(at)).definitions;
    const state = `[hooks.state.${JSON.stringify(hook?.key)}]\ntrusted_hash = "${hook?.hash}"\nscript_hash = "${hook?.script?.hash}"\n`;
    at.write({ "repository/.agentcli/config.toml": state, "home/config.toml": trusted(at.repository) });
    const { definitions, given } = await hooksOf(at);
    expect(trustStatus(definitions[0] ?? never, given)).toBe("untrusted");
  });

  test("can be given by hash, given to all, or disabled", async () => {
    const at = await machine(files);
    const { definitions, given } = await hooksOf(at);
    const [hook = never] = definitions;
    expect(whySkipped(hook, given)).toMatch(/^not trusted; /);
    expect(whySkipped(hook, { ...given, hashes: [trustHash(hook)] })).toBeNull();
    expect(whySkipped(hook, { ...given, bypass: "all" })).toBeNull();
    const off = new Map([[hook.key, { enabled: false, trusted_hash: hook.hash }]]);
    expect(whySkipped(hook, { ...given, states: off, bypass: "all" })).toBe("switched off in hooks.state");
  });

  test("is not written into a file with an unusual layout", async () => {
    const at = await machine({ ...files, "home/config.toml": "hooks = { state = {} }\n" });
    const { definitions } = await hooksOf(at);
    await expect(trustHooks(at.pathOf("home/config.toml"), definitions)).rejects.toThrow("Edit it by hand");
    expect(readFileSync(at.pathOf("home/config.toml"), "utf8")).toBe("hooks = { state = {} }\n");
  });

  test("in a definition of the configuration lasts until it changes", async () => {
    const at = await machine({ "home/config.toml": toml("Stop", "a") });
    const [hook = never] = (await hooksOf(at)).definitions;
    expect(await isUnchanged(hook)).toBe(true);
    at.write({ "home/config.toml": `model = "m"\n${toml("Stop", "a")}` });
    expect(await isUnchanged(hook)).toBe(true);
    at.write({ "home/config.toml": toml("Stop", "b") });
    expect(await isUnchanged(hook)).toBe(false);
  });
});

const never = undefined as never;
