import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { call, type Reply, replyWith } from "@agentcli/testkit";
import { type Harness, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const forbidPush = `prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "use the bot")\n`;
const askPublish = `prefix_rule(pattern = ["npm", "publish"], decision = "prompt")\n`;
const run = (cmd: string): Reply => call("exec_command", { cmd });

function write(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const commandsOf = async (harness: Harness, ...flags: string[]) => {
  const result = await harness.events([...flags, "go on"]);
  return { ...result, commands: itemsOf(result.events, "command_execution") };
};

describe("a command that a rule forbids", () => {
  test.each([
    "git push",
    "true && git push",
    "bash -lc 'git push'",
    "echo origin | xargs git push",
    "find . -maxdepth 0 -exec git push {} \\;",
    "env X=1 git push",
    "(cd . && /usr/bin/git push)",
    "echo $(git push)",
  ])("is declined, in the events and to the model: %s", async (cmd) => {
    const harness = await openHarness({ replies: [run(cmd), replyWith("All right.")] });
    write(harness.home, "rules/default.rules", forbidPush);
    const { code, commands } = await commandsOf(harness);
    expect(code).toBe(0);
    expect(commands).toMatchObject([{ status: "declined", reason: expect.stringContaining("rejected: use the bot") }]);
    expect(toolOutputs(harness.requests().at(-1)).at(-1)).toMatch(/^`.*git push.*` rejected: use the bot$/);
  });

  test("and one that needs an approval are both declined; others run", async () => {
    const harness = await openHarness({ replies: [run("npm publish"), run("echo fine"), replyWith("Done.")] });
    write(harness.home, "rules/a.rules", forbidPush);
    write(harness.home, "rules/b.rules", `${askPublish}prefix_rule(["echo"])`);
    const { commands } = await commandsOf(harness);
    expect(commands).toMatchObject([
      { status: "declined", reason: "approval required by policy, but AskForApproval is set to Never" },
      { status: "completed", aggregated_output: "fine\n" },
    ]);
  });
});

describe("rules of a project", () => {
  test("forbid in the whole repository, even where it is not trusted", async () => {
    const harness = await openHarness({
      replies: [run("git push"), run("npm publish"), run("make"), replyWith("Done.")],
      files: {
        ".agentcli/rules/a.rules": forbidPush,
        "inner/.agentcli/rules/a.rules": askPublish,
        "inner/deeper/file.txt": "",
        "other/.agentcli/rules/a.rules": `prefix_rule(["make"], "forbidden")`,
      },
    });
    const { commands } = await commandsOf(harness, "-C", "inner/deeper");
    expect(commands.map(({ status }) => status)).toEqual(["declined", "declined", "failed"]);
  });

  test("an allowing rule grants nothing: the sandbox is enforced, and leaving it is refused", async () => {
    const rules = `prefix_rule(["touch"])`;
    const harness = await openHarness({
      replies: [
        run("touch made.txt"),
        call("exec_command", { cmd: "touch made.txt", sandbox_permissions: "require_escalated" }),
        replyWith("Done."),
      ],
      files: { "README.md": "", ".agentcli/rules/a.rules": rules },
    });
    write(harness.home, "rules/a.rules", rules);
    const { commands } = await commandsOf(harness, "-s", "read-only");
    expect(commands).toMatchObject([
      { status: "failed", aggregated_output: expect.stringContaining("Read-only file system") },
      { status: "declined", reason: expect.stringContaining("cannot ask for escalated permissions") },
    ]);
  });
});

describe("--ignore-rules", () => {
  test("ignores the rules of user and project, even invalid ones", async () => {
    const harness = await openHarness({
      replies: [run("git push"), replyWith("Done.")],
      files: { ".agentcli/rules/a.rules": forbidPush },
    });
    write(harness.home, "rules/a.rules", "broken(");
    const { code, commands } = await commandsOf(harness, "--ignore-rules");
    expect(code).toBe(0);
    expect(commands).toMatchObject([{ status: "failed", exit_code: expect.any(Number) }]);
  });
});

describe("a rules file with a mistake", () => {
  test("keeps the run from starting, with file and line in the message", async () => {
    const harness = await openHarness({ replies: [replyWith("never asked")] });
    const path = write(harness.home, "rules/default.rules", `${forbidPush}prefix_rule(["a"], match = ["b"])\n`);
    const { code, stderr, events } = await commandsOf(harness);
    expect(code).toBe(2);
    const message = `Error loading rules:\n${path}:2:29: the pattern does not match \`b\`, which is listed in match. Correct the pattern or the example.`;
    expect(stderr).toContain(message);
    expect(events).toEqual([{ type: "error", message }]);
    expect(harness.requests()).toEqual([]);
  });
});

describe("what a run loads", () => {
  const recorder = `
const fs = require("node:fs");
const opened = [];
const { readFile } = fs.promises;
fs.promises.readFile = (path, ...rest) => (opened.push(String(path)), readFile(path, ...rest));
process.on("exit", () => fs.writeFileSync(process.env.LOADED, [...opened, ...Object.keys(require.cache)].join("\\n")));
`;

  async function loaded(harness: Harness): Promise<string> {
    const preload = write(harness.home, "recorder.cjs", recorder);
    const list = join(harness.home, "loaded.txt");
    const { code } = await harness.events(["go on"], { nodeArguments: ["--require", preload], env: { LOADED: list } });
    expect(code).toBe(0);
    return readFileSync(list, "utf8");
  }

  test("contains no rules code where there are no rules", async () => {
    const files = await loaded(await openHarness({ replies: [run("true"), replyWith("Done.")] }));
    expect(files).toMatch(/run\.cjs/);
    expect(files).not.toMatch(/rules\.cjs|tree-sitter/);
  });

  test("contains the grammar only when a command has to be checked", async () => {
    const quiet = await openHarness({ replies: [replyWith("Done.")] });
    write(quiet.home, "rules/a.rules", forbidPush);
    expect(await loaded(quiet)).not.toMatch(/tree-sitter/);
    const busy = await openHarness({ replies: [run("true"), replyWith("Done.")] });
    write(busy.home, "rules/a.rules", forbidPush);
    expect(await loaded(busy)).toMatch(/tree-sitter-bash\.wasm/);
  });
});

describe("execpolicy check", () => {
  async function check(...args: string[]) {
    const harness = await openHarness();
    write(harness.repository, "a.rules", `${forbidPush}prefix_rule(["ls"])`);
    write(harness.repository, "b.rules", `${askPublish}host_executable("git", ["/usr/bin/git"])`);
    return harness.run(["execpolicy", "check", ...args]);
  }
  const push = { matchedPrefix: ["git", "push"], decision: "forbidden", justification: "use the bot" };

  test("prints which rules match and their decision", async () => {
    const { code, stdout } = await check("--rules", "a.rules", "-r", "b.rules", "--", "git", "push", "--force");
    expect(code).toBe(0);
    expect(stdout).toBe(`{"matchedRules":[{"prefixRuleMatch":${JSON.stringify(push)}}],"decision":"forbidden"}\n`);
    const resolved = await check("-r", "a.rules", "-r", "b.rules", "--", "/usr/bin/git", "push");
    expect(JSON.parse(resolved.stdout)).toEqual({
      matchedRules: [{ prefixRuleMatch: { ...push, resolvedProgram: "/usr/bin/git" } }],
      decision: "forbidden",
    });
  });

  test("inspects scripts as a run does", async () => {
    const { stdout } = await check("-r", "a.rules", "--pretty", "--", "bash", "-lc", "ls && git push");
    expect(JSON.parse(stdout)).toMatchObject({ decision: "forbidden", matchedRules: [{}, {}] });
    expect(stdout).toContain(`\n  "matchedRules": [`);
  });

  test("has no decision where no rule matches", async () => {
    expect(await check("-r", "a.rules", "--", "make")).toMatchObject({ code: 0, stdout: `{"matchedRules":[]}\n` });
  });

  test("refuses invalid arguments", async () => {
    expect(await check("-r", "a.rules")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("No command given."),
    });
    expect(await check("--", "ls")).toMatchObject({ code: 2, stderr: expect.stringContaining("No rules given.") });
    expect(await check("-r", "c.rules", "--", "ls")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Error loading rules:\n\S*c\.rules:1:1: the file cannot be read/),
    });
  });
});

test("words after -- are neither commands nor flags", async () => {
  const harness = await openHarness({ replies: [replyWith("Done.")] });
  const { code } = await harness.run(["exec", "--json", "--", "resume"]);
  expect(code).toBe(0);
  expect(JSON.stringify(harness.requests()[0]?.body)).toContain(`"resume"`);
});
