import { describe, expect, test } from "vitest";
import { loadConfig, refusalOf } from "../src/index.ts";
import { machine } from "./machine.ts";

const readOnly = { "system/requirements.toml": 'allowed_sandbox_modes = ["read-only", "workspace-write"]\n' };

describe("a value that is not allowed is an error with file, key and allowed values", () => {
  const flag = { flag: "--sandbox", key: ["sandbox_mode"], value: "danger-full-access" };
  test.each([
    ["by a flag", {}, { flags: [flag] }, "--sandbox:"],
    ["by -c", {}, { overrides: ["sandbox_mode=danger-full-access"] }, "-c:"],
    ["by a file", { "home/config.toml": 'sandbox_mode = "danger-full-access"' }, {}, "home/config.toml:"],
  ])("%s", async (_, files, more, source) => {
    const { request, pathOf } = await machine({ ...readOnly, ...files });
    const refused = loadConfig(request(more));
    await expect(refused).rejects.toMatchObject({ name: "ConfigError" });
    await expect(refused).rejects.toThrow(
      `sandbox_mode = "danger-full-access" is not allowed by allowed_sandbox_modes in ${pathOf("system/requirements.toml")}. Allowed: read-only, workspace-write.`,
    );
    await expect(refused).rejects.toThrow(source);
  });
});

test("only the effective value is checked", async () => {
  const { request } = await machine({ ...readOnly, "home/config.toml": 'sandbox_mode = "danger-full-access"' });
  const { config } = await loadConfig(request({ overrides: ["sandbox_mode=read-only"] }));
  expect(config.sandbox_mode).toBe("read-only");
});

test("a default that is not allowed is replaced by the first allowed value, with a warning", async () => {
  const { request, pathOf } = await machine({
    "system/requirements.toml":
      'allowed_sandbox_modes = ["workspace-write"]\nallowed_approval_policies = ["on-request"]\n',
  });
  const { config, warnings, origins } = await loadConfig(request());
  expect(config).toMatchObject({ sandbox_mode: "workspace-write", approval_policy: "on-request" });
  expect(warnings[0]).toContain(
    "sandbox_mode was changed from read-only to workspace-write, as required by allowed_sandbox_modes in",
  );
  expect(origins.get("sandbox_mode")).toEqual({ kind: "requirement", path: pathOf("system/requirements.toml") });
});

test("of two files the stricter wins, key by key", async () => {
  const { request, pathOf } = await machine({
    "system/requirements.toml":
      'allowed_sandbox_modes = ["workspace-write", "read-only"]\nallow_managed_hooks_only = true\n',
    "home/requirements.toml":
      'allowed_sandbox_modes = ["read-only", "danger-full-access"]\nallowed_approval_policies = ["never"]\nallow_managed_hooks_only = false\n',
  });
  const { requirements } = await loadConfig(request());
  expect(requirements.managedHooksOnly).toBe(true);
  expect(requirements.rules).toEqual([
    {
      key: ["sandbox_mode"],
      allowed: ["read-only"],
      name: "allowed_sandbox_modes",
      paths: [pathOf("system/requirements.toml"), pathOf("home/requirements.toml")],
    },
    expect.objectContaining({ name: "allowed_approval_policies", allowed: ["never"] }),
  ]);
});

test("files without a common value are an error that names both", async () => {
  const { request, pathOf } = await machine({
    "system/requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n',
    "home/requirements.toml": 'allowed_sandbox_modes = ["workspace-write"]\n',
  });
  await expect(loadConfig(request())).rejects.toThrow(
    `${pathOf("system/requirements.toml")} and ${pathOf("home/requirements.toml")} contradict each other`,
  );
});

test("features are pinned: set by default, an error where configured otherwise", async () => {
  const { request } = await machine({ "system/requirements.toml": "[features]\nmulti_agent = false\n" });
  const { config, origins, warnings } = await loadConfig(request());
  expect([config.features, origins.get("features.multi_agent")?.kind, warnings]).toEqual([
    { multi_agent: false },
    "requirement",
    [],
  ]);
  await expect(loadConfig(request({ overrides: ["features.multi_agent=true"] }))).rejects.toThrow(
    "-c: features.multi_agent = true is not allowed by features.multi_agent",
  );
});

test("managed hooks are returned with their file", async () => {
  const { request, pathOf } = await machine({
    "system/requirements.toml": '[[hooks.PreToolUse]]\nmatcher = "exec_command"\n',
  });
  expect((await loadConfig(request())).requirements.managedHooks).toEqual([
    { path: pathOf("system/requirements.toml"), hooks: { PreToolUse: [{ matcher: "exec_command" }] } },
  ]);
});

describe("MCP servers are only those that requirements list", () => {
  const servers = `[mcp_servers.files]\ncommand = "npx"\n[mcp_servers.web]\nurl = "https://other.example/mcp"\n[mcp_servers.own]\ncommand = "own"\n`;
  const list = `[mcp_servers.files.identity]\ncommand = "npx"\n[mcp_servers.web.identity]\nurl = "https://mcp.example/mcp"\n`;

  test("by name and identity; the others are disabled, with the reason", async () => {
    const { request, pathOf } = await machine({ "home/config.toml": servers, "system/requirements.toml": list });
    const { config, blockedServers, warnings } = await loadConfig(request());
    const reason = `not allowed by mcp_servers in ${pathOf("system/requirements.toml")}`;
    expect(blockedServers).toEqual({ web: reason, own: reason });
    expect(config.mcp_servers?.files?.enabled).toBeUndefined();
    expect([config.mcp_servers?.web?.enabled, config.mcp_servers?.own?.enabled]).toEqual([false, false]);
    expect(warnings).toContain(`The MCP server web is not used: ${reason}.`);
  });

  test("in every file that has a list", async () => {
    const { request } = await machine({
      "home/config.toml": servers,
      "system/requirements.toml": list,
      "home/requirements.toml": "[mcp_servers]\n",
    });
    expect(Object.keys((await loadConfig(request())).blockedServers)).toEqual(["files", "web", "own"]);
  });

  test("and a required one is an error", async () => {
    const { request } = await machine({
      "home/config.toml": `[mcp_servers.own]\ncommand = "own"\nrequired = true\n`,
      "system/requirements.toml": list,
    });
    await expect(loadConfig(request())).rejects.toThrow(
      "mcp_servers.own is required and not allowed by mcp_servers in",
    );
  });
});

test.each([
  ['allowed_sandbox_mode = ["read-only"]', "did you mean allowed_sandbox_modes?"],
  ['allowed_sandbox_modes = ["readonly"]', "must be one of read-only"],
  ["allowed_sandbox_modes = []", "must name at least 1"],
  ["allowed_sandbox_modes = [", "is not valid TOML"],
])("a rule that is not understood stops everything, strict or not: %s", async (text, complaint) => {
  const { request } = await machine({ "home/requirements.toml": text });
  await expect(loadConfig(request())).rejects.toThrow(complaint);
});

test("a value from another source can be checked too", async () => {
  const { request } = await machine(readOnly);
  const { requirements } = await loadConfig(request());
  const judge = (value: string) => refusalOf(requirements, "sandbox_mode", value, "The resumed thread");
  expect(judge("read-only")).toBeUndefined();
  expect(judge("danger-full-access")).toContain("The resumed thread: sandbox_mode");
});
