// `agentcli import`: what other tools left in the home directory, written where nothing was.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

const codexConfig = `model = "gpt-5.5"
sandbox_mode = "danger-full-access"
model_reasoning_effort = 7
made_up_key = true

[projects."/work/shop"]
trust_level = "trusted"

[mcp_servers.tickets]
command = "tickets"
args = ["--stdio"]

[model_providers.local]
name = "Local"
base_url = "http://127.0.0.1:8000/v1"
`;

const claudeSettings = {
  permissions: {
    allow: ["Bash(npm run test:*)", "Bash(make deploy)", "WebFetch(domain:example.com)"],
    deny: ["Bash(git push)", "Bash(rm -rf $HOME:*)"],
  },
  hooks: { PreToolUse: [] },
};

async function openHome() {
  const { run, home, repository } = await openHarness({ replies: [] });
  const { path: userHome, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const write = (path: string, content: string | object) => {
    mkdirSync(join(userHome, path, ".."), { recursive: true });
    writeFileSync(join(userHome, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  const importWith = (...args: string[]) => run(["import", ...args], { env: { HOME: userHome, CODEX_HOME: "" } });
  const read = (path: string) => readFileSync(join(home, path), "utf8");
  return { run, home, repository, userHome, write, importWith, read };
}

test("import takes over keys, servers, instructions and rules, and names what it leaves out", async () => {
  const { write, importWith, read, home, userHome } = await openHome();
  write(".codex/config.toml", codexConfig);
  write(".codex/AGENTS.md", "Prefer small commits.\n");
  write(".codex/auth.json", '{"OPENAI_API_KEY":"sk-secret-value"}');
  write(".claude/settings.json", claudeSettings);
  write(".claude.json", {
    mcpServers: {
      search: { type: "http", url: "https://mcp.example.com" },
      old: { type: "sse", url: "https://x.example" },
    },
  });
  const before = existsSync(join(home, "config.toml")) ? read("config.toml") : "";
  const shown = await importWith("--dry-run");
  expect([shown.code, existsSync(join(home, "AGENTS.md"))]).toEqual([0, false]);
  expect(shown.stdout).toContain("Codex: would be taken over");
  const { code, stdout } = await importWith();
  expect(code).toBe(0);
  const config = read("config.toml");
  expect(config.startsWith(before)).toBe(true);
  for (const line of [
    'command = "tickets"',
    'base_url = "http://127.0.0.1:8000/v1"',
    'url = "https://mcp.example.com"',
  ])
    expect(config).toContain(line);
  for (const word of ["danger", "projects", "made_up", "effort", "sk-secret", "sse"])
    expect(config).not.toContain(word);
  expect(read("AGENTS.md")).toBe("Prefer small commits.\n");
  expect(read("rules/imported.rules").split("\n")).toEqual([
    `prefix_rule(pattern = ["git","push"], decision = "forbidden", justification = "imported from ${userHome}/.claude/settings.json")`,
    `prefix_rule(pattern = ["npm","run","test"], decision = "allow", justification = "imported from ${userHome}/.claude/settings.json")`,
    "",
  ]);
  expect(statSync(join(home, "rules/imported.rules")).mode & 0o777).toBe(0o600);
  for (const left of [
    "made_up_key: agentcli has no such key",
    "sandbox_mode: danger-full-access has to be chosen",
    "projects: agentcli asks",
    "auth.json: credentials are not copied",
    "Bash(make deploy): it has no equal",
    "mcpServers.old: agentcli speaks",
    "hooks: hooks run on your machine",
  ])
    expect(stdout).toContain(left);
});

test("what is set already stays, and a second import changes nothing", async () => {
  const { write, importWith, read, home, run } = await openHome();
  write(".codex/config.toml", codexConfig);
  write(".codex/AGENTS.md", "Theirs.\n");
  writeFileSync(join(home, "AGENTS.md"), "Mine.\n");
  const own = `${existsSync(join(home, "config.toml")) ? read("config.toml") : ""}\n# my own\n[mcp_servers.tickets]\nurl = "https://mine.example"\n`;
  writeFileSync(join(home, "config.toml"), own);
  const first = await importWith("--from", "codex");
  expect(first.stdout).toContain("mcp_servers.tickets: it is set already");
  expect(read("config.toml")).toContain('# my own\n[mcp_servers.tickets]\nurl = "https://mine.example"\n');
  expect(read("config.toml")).not.toContain("--stdio");
  expect(read("AGENTS.md")).toBe("Mine.\n");
  const after = read("config.toml");
  expect((await importWith("--from", "codex")).stdout).toContain("Codex: nothing new");
  expect(read("config.toml")).toBe(after);
  expect((await run(["config", "show"])).code).toBe(0);
});

test("nothing to import, pipes and broken files are named, and nothing hangs", async () => {
  const { write, importWith, userHome } = await openHome();
  expect(await importWith()).toMatchObject({ code: 2, stderr: expect.stringContaining("There is nothing to import") });
  write(".claude.json", { mcpServers: { numbers: { command: "x", args: [1] } } });
  expect((await importWith()).stdout).toContain("mcpServers.numbers: its args are not texts");
  write(".claude/settings.json", { toString: 1 });
  expect((await importWith()).stdout).toContain("settings.json: toString: agentcli has no such setting");
  write(".claude/settings.json", "{");
  write(".codex/config.toml", "= broken");
  execFileSync("mkfifo", [join(userHome, ".codex/AGENTS.md")]);
  const { code, stdout } = await importWith();
  expect(code).toBe(0);
  for (const what of [".codex/AGENTS.md: it is not a regular file", ".codex/config.toml: ", ".claude/settings.json: "])
    expect(stdout).toContain(what);
});
