// Files that local agents go by: whose count, and who wins.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { agentCalls } from "../src/agents.ts";
import { bodiesOf, type LocalHarness, openLocalHarness, readAll, runtimeWith } from "./local-harness.ts";
import { summary } from "./scenario-runner.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

const hooksFile = (event: string, command: string) => JSON.stringify({ version: 1, hooks: { [event]: [{ command }] } });

const refusing = `printf '{"permission":"deny","agent_message":"Not in this project."}'`;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test("a hook of the project gates shell commands", async () => {
  const files = { ".platform/hooks.json": hooksFile("beforeShellExecution", refusing), "a.txt": "a" };
  const harness = await openLocalHarness([shell("rm a.txt"), replyWith("Refused.")], files);
  const agent = await harness.Agent.create(harness.options());
  const messages = await readAll(await agent.send("Remove it"));
  expect(summary(messages).tools).toContain("run_terminal_cmd error");
  expect(bodiesOf(harness).at(-1)).toContain("Not in this project.");
  expect(existsSync(join(harness.repository.path, "a.txt"))).toBe(true);
});

test("an agent keeps the hooks it began with, until it is reloaded", async () => {
  const files = { ".platform/hooks.json": hooksFile("preToolUse", refusing) };
  const replies = [shell("rm .platform/hooks.json; touch one"), replyWith("1"), shell("touch two"), replyWith("2")];
  const harness = await openLocalHarness([...replies, shell("touch three"), replyWith("3")], files);
  const at = (name: string) => join(harness.repository.path, name);
  const agent = await harness.Agent.create(harness.options());
  await (await agent.send("One")).wait();
  writeFileSync(at(".platform/hooks.json"), hooksFile("preToolUse", "echo '{}'"));
  await (await agent.send("Two")).wait();
  expect([existsSync(at("one")), existsSync(at("two"))]).toEqual([false, false]);
  await agent.reload();
  await (await agent.send("Three")).wait();
  expect(existsSync(at("three"))).toBe(true);
});

test("a hook finds its variables, and no key", async () => {
  const files = { ".platform/hooks.json": hooksFile("stop", "env > seen; echo '{}'") };
  const harness = await openLocalHarness([replyWith("Done.")], files);
  await harness.Agent.prompt("Hello", harness.options());
  const seen = readFileSync(join(harness.repository.path, "seen"), "utf8");
  expect(seen).toContain(`PLATFORM_PROJECT_DIR=${harness.repository.path}`);
  expect(seen).not.toContain("PLATFORM_API_KEY");
});

test("a hook runs neither in a shell of the repository nor with profiles of a home in it", async () => {
  const files = { ".platform/hooks.json": hooksFile("stop", "echo '{}'") };
  const harness = await openLocalHarness([replyWith("Done.")], files);
  const at = (name: string) => join(harness.repository.path, name);
  const mark = join(harness.home, "ran");
  write(at("tools/bash"), `#!/bin/sh\necho shell >> ${mark}\nexec /bin/bash "$@"\n`);
  chmodSync(at("tools/bash"), 0o755);
  write(at("home/.bash_profile"), `echo profile >> ${mark}\n`);
  const variables = { ...harness.variables, SHELL: at("tools/bash"), HOME: at("home") };
  const options = harness.options({ local: { sandboxOptions: { enabled: true } } });
  await agentCalls(runtimeWith(variables)).prompt("Hello", options);
  expect(existsSync(mark)).toBe(false);
});

const written = (harness: LocalHarness) => {
  const home = join(harness.home, ".platform");
  write(join(home, "AGENTS.md"), "User instructions.");
  write(join(home, "rules", "tidy.mdc"), "---\nalwaysApply: true\n---\nUser rule.");
  write(join(home, "skills", "wave", "SKILL.md"), "---\nname: wave\ndescription: Waves at users\n---\nWave.");
  write(join(home, "agents", "critic.md"), "---\nname: critic\ndescription: A user's critic\n---\nCriticise.");
};

const projectFiles = {
  "AGENTS.md": "Project instructions.",
  ".platform/rules/style.mdc": "---\nalwaysApply: true\n---\nProject rule.",
  ".platform/agents/tester.md": "---\nname: tester\ndescription: A project's tester\n---\nTest.",
};

const everything = {
  project: ["Project instructions.", "Project rule.", "A project's tester"],
  user: ["User instructions.", "User rule.", "Waves at users", "A user's critic"],
};

test.each([
  [undefined, ["project"]],
  [["project"], ["project"]],
  [["user"], ["user"]],
  [["team", "plugins"], []],
  [["all"], ["project", "user"]],
] as const)("with settingSources %j the files of %j count", async (settingSources, expected) => {
  const harness = await openLocalHarness([replyWith("Fine.")], projectFiles);
  written(harness);
  await harness.Agent.prompt(
    "Hello",
    harness.options({ local: { ...(settingSources && { settingSources: [...settingSources] }) } }),
  );
  const [body = ""] = bodiesOf(harness);
  for (const [source, texts] of Object.entries(everything))
    for (const text of texts)
      expect([text, body.includes(text)]).toEqual([text, (expected as readonly string[]).includes(source)]);
});

const everythingServer = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);
const echo = (mark: string) => ({ command: process.execPath, args: [everythingServer], env: { MARK: mark } });

test("MCP servers: those of the prompt, of the agent, of the project, of the user, by name", async () => {
  const servers = (marks: Record<string, string>) =>
    Object.fromEntries(Object.entries(marks).map(([name, mark]) => [name, echo(mark)]));
  const replies = ["a", "b", "c"].map((name) => call(`mcp__${name}__get_env`, {}));
  const twice = [...replies, replyWith("1"), call("mcp__a__get_env", {}), replyWith("2")];
  const harness = await openLocalHarness(twice, {
    ".platform/mcp.json": JSON.stringify({ mcpServers: servers({ a: "project-a", b: "project-b" }) }),
  });
  write(
    join(harness.home, ".platform", "mcp.json"),
    JSON.stringify({ mcpServers: servers({ a: "user-a", b: "user-b", c: "user-c" }) }),
  );
  const options = harness.options({ mcpServers: servers({ a: "created-a" }), local: { settingSources: ["all"] } });
  const agent = await harness.Agent.create(options);
  const marks = () =>
    [...(bodiesOf(harness).at(-1) ?? "").matchAll(/(project|user|created|sent)-[abc]/g)].map(([mark]) => mark);
  await (await agent.send("Look")).wait();
  expect(marks()).toEqual(["created-a", "project-b", "user-c"]);
  await (await agent.send("Again", { mcpServers: servers({ a: "sent-a" }) })).wait();
  expect(marks().at(-1)).toBe("sent-a");
  expect(execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" })).not.toContain("server-everything");
});

test("a server file that is none is named", async () => {
  const harness = await openLocalHarness([], { ".platform/mcp.json": '{"mcpServers": {"a": {}}}' });
  await expect(harness.Agent.prompt("Hello", harness.options())).rejects.toMatchObject({
    code: "invalid_settings",
    message: expect.stringContaining("mcpServers.a needs command or url"),
  });
});

test("a sub-agent given at creation goes before one of the same name in a file", async () => {
  const spawn = call("spawn_agent", { agent_type: "tester", message: "Test it" });
  const harness = await openLocalHarness(
    {
      replies: [{ ...spawn, when: { bodyIncludes: "Delegate" } }, replyWith("Inner."), replyWith("Outer.")],
      repeat: "last",
    },
    projectFiles,
  );
  const agents = { tester: { description: "Given inline", prompt: "Be inline." } };
  const result = await harness.Agent.prompt("Delegate", harness.options({ agents }));
  expect(result.status).toBe("finished");
  expect(bodiesOf(harness)[0]).toContain("Given inline");
  expect(bodiesOf(harness)[0]).not.toContain("A project's tester");
});
