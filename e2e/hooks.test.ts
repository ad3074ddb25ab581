import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, type Reply, say } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { type Desk, type DeskOptions, desk, itemsOf, sessionFiles, toolOutputs } from "./harness.ts";
import { nothingLeft } from "./leftovers.ts";

const sample = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../examples/sample/${name}`, import.meta.url)), "utf8");

const guard = {
  ".agentcli/hooks.json": sample(".agentcli/hooks.json"),
  ".agentcli/hooks/protect-migrations.mjs": sample(".agentcli/hooks/protect-migrations.mjs"),
  "migrations/001.sql": "create table items;\n",
};
const refusal = "files in migrations/ are never changed once they exist; leave them as they are";
const run = (cmd: string): Reply => call("exec_command", { cmd });
const patch = "*** Begin Patch\n*** Add File: migrations/002.sql\n+drop table items;\n*** End Patch\n";

/** A desk whose repository has hooks that its user trusts. */
async function trustingDesk(options: DeskOptions): Promise<Desk> {
  const at = await desk(options);
  const { code, stderr } = await at.run(["hooks", "trust", "--all"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return at;
}

function write(directory: string, name: string, text: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
}

const agentcliHooks = (hooks: Record<string, object[]>): string =>
  JSON.stringify({
    hooks: Object.fromEntries(
      Object.entries(hooks).map(([event, list]) => [
        event,
        [{ hooks: list.map((hook) => ({ type: "command", ...hook })) }],
      ]),
    ),
  });

const unchanged = (at: Desk) => {
  expect(existsSync(join(at.repository, "migrations/002.sql"))).toBe(false);
  expect(readFileSync(join(at.repository, "migrations/001.sql"), "utf8")).toBe(guard["migrations/001.sql"]);
};

describe("a trusted hook that guards a directory", () => {
  test.each([
    ["a redirection", run("echo x > migrations/002.sql"), "Command blocked by PreToolUse hook"],
    ["a patch", call("apply_patch", { input: patch }), "Tool call blocked by PreToolUse hook"],
    ["a patch given to the shell", run(`apply_patch <<'EOF'\n${patch}EOF`), "Tool call blocked by PreToolUse hook"],
    ["sed in place", run("sed -i s/create/drop/ migrations/001.sql"), "Command blocked by PreToolUse hook"],
  ])("refuses %s, in the events and to the model", async (_, reply, sentence) => {
    const at = await trustingDesk({
      replies: [reply, run("cat migrations/001.sql"), say("As you wish.")],
      files: guard,
    });
    const { code, events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    unchanged(at);
    const told = toolOutputs(at.requests().at(-1));
    expect(told[0]).toContain(`${sentence}: ${refusal}. `);
    expect(told[1]).toContain("create table items;");
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "PreToolUse", source: "project", status: "blocked", reason: refusal },
      { event: "PreToolUse", source: "project", status: "completed", reason: "" },
    ]);
    const refused = events.find(({ item }) => (item as { status?: string })?.status === "declined");
    expect(refused?.item).toMatchObject({ reason: expect.stringContaining(refusal) });
  });

  test("refuses what is typed into a shell that is still running", async () => {
    const replies = [
      call("exec_command", { cmd: "bash", tty: true, yield_time_ms: 250 }),
      { ...call("write_stdin", { session_id: 0, chars: "echo x > migrations/002.sql\n" }) },
      say("Done."),
    ];
    const at = await trustingDesk({ replies, files: guard });
    await at.events(["-s", "workspace-write", "go on"]);
    unchanged(at);
    expect(toolOutputs(at.requests().at(-1)).at(-1)).toContain("Tool: write_stdin");
  });

  test("refuses a sub-agent", async () => {
    const replies = [
      { ...say("The child is done."), when: { bodyIncludes: "subagent_notification" } },
      { ...say("Refused."), when: { bodyIncludes: "Command blocked by" } },
      { ...run("echo x > migrations/002.sql"), when: { bodyIncludes: "You carry out one piece" } },
      { ...run("sleep 0.2"), when: { bodyIncludes: "agent_id" } },
      call("spawn_agent", { message: "write it", agent_type: "worker" }),
    ];
    const at = await trustingDesk({ replies: { replies, repeat: "always" }, files: guard });
    const { code } = await at.events(["-s", "workspace-write", "--budget", "turns=60", "let somebody do it"]);
    expect(code).toBe(0);
    unchanged(at);
    const sessions = sessionFiles(at.home).map((path) => readFileSync(path, "utf8"));
    expect(sessions).toHaveLength(2);
    expect(sessions.filter((text) => text.includes(`Command blocked by PreToolUse hook: ${refusal}`))).toHaveLength(1);
  });

  test("refuses in a resumed thread too, and in a directory below", async () => {
    const replies = [say("Begun."), run("echo x > ../migrations/002.sql"), say("Done.")];
    const at = await trustingDesk({ replies, files: { ...guard, "src/a.js": "" } });
    await at.events(["-s", "workspace-write", "-C", "src", "--add-dir", ".", "begin"]);
    const { events } = await at.events(["resume", "--last", "--all", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: refusal }]);
  });

  test("refuses in the other dialect", async () => {
    const script = `const { hook_event_name: event, command, tool_input: input } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const text = event === "beforeShellExecution" ? command : input.file_path;
const deny = /migrations/.test(text) && !/^cat /.test(text);
console.log("looking at", text);
console.log(JSON.stringify(deny ? { permission: "deny", agent_message: "not in migrations" } : { permission: "allow" }));
`;
    const hooks = {
      version: 1,
      hooks: {
        beforeShellExecution: [{ command: "node .platform/guard.cjs", matcher: "migrations" }],
        preToolUse: [{ command: "node .platform/guard.cjs", matcher: "Write|Delete", timeout: 5 }],
      },
    };
    const files = { ".platform/hooks.json": JSON.stringify(hooks), ".platform/guard.cjs": script };
    const replies = [
      run("echo x > migrations/002.sql"),
      call("apply_patch", { input: patch }),
      run("echo fine"),
      say("Done."),
    ];
    const at = await trustingDesk({ replies, files: { ...guard, ...files, ".agentcli/hooks.json": "{}" } });
    const { events } = await at.events(["-s", "workspace-write", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "beforeShellExecution", status: "blocked", reason: "not in migrations" },
      { event: "preToolUse", status: "blocked", reason: "not in migrations" },
    ]);
    expect(toolOutputs(at.requests().at(-1))[0]).toBe(
      "Command blocked by beforeShellExecution hook: not in migrations. Command: echo x > migrations/002.sql",
    );
  });
});

describe("trust", () => {
  const writing = [run("echo x > migrations/002.sql"), say("Done.")];

  test("without it a hook does not run, and the run says so", async () => {
    const at = await desk({ replies: writing, files: guard });
    const { code, events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expect(existsSync(join(at.repository, "migrations/002.sql"))).toBe(true);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "PreToolUse", status: "skipped", reason: expect.stringContaining("not trusted"), duration_ms: 0 },
    ]);
  });

  test("is given to a hash on the command line, for one run", async () => {
    const at = await desk({ replies: writing, files: guard });
    const [listed] = (await at.run(["hooks", "list", "--json"])).stdout.trim().split("\n");
    const { hash, status } = JSON.parse(listed ?? "");
    expect(status).toBe("untrusted");
    await at.events(["-s", "workspace-write", "--trust-hooks", hash, "go on"]);
    unchanged(at);
    expect((await at.run(["hooks", "list", "--effective"])).stdout).toBe("");
    expect((await at.run(["exec", "--trust-hooks", "abc", "go on"])).code).toBe(2);
  });

  test("of a thread lasts: what it began with guards it when it is resumed, what came later does not run", async () => {
    const at = await desk({ replies: [say("Begun."), ...writing], files: guard });
    const { hash } = JSON.parse((await at.run(["hooks", "list", "--json"])).stdout);
    await at.events(["-s", "workspace-write", "--trust-hooks", hash, "begin"]);
    write(at.home, "hooks.json", agentcliHooks({ PreToolUse: [{ command: "exit 2" }] }));
    await at.run(["hooks", "trust", `${at.home}/hooks.json:pre_tool_use:0:0`]);
    const { events } = await at.events(["resume", "--last", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([
      { source: "user", status: "skipped", reason: "the thread began without it" },
      { source: "project", status: "blocked", reason: refusal },
    ]);
  });

  test("of a thread does not move to what its hook has become since", async () => {
    const at = await trustingDesk({ replies: [say("Begun."), ...writing], files: guard });
    await at.events(["-s", "workspace-write", "begin"]);
    write(at.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    await at.run(["hooks", "trust", "--all"]);
    const { events } = await at.events(["resume", "--last", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: "hook modified" }]);
  });

  test("is not asked for with --dangerously-bypass-hook-trust", async () => {
    const at = await desk({ replies: writing, files: guard });
    await at.events(["-s", "workspace-write", "--dangerously-bypass-hook-trust", "go on"]);
    unchanged(at);
  });

  test("is given, shown and taken back by commands", async () => {
    const at = await trustingDesk({ files: guard });
    const list = async () => (await at.run(["hooks", "list"])).stdout;
    expect(await list()).toMatch(/^trusted {2}project {2}PreToolUse/);
    write(at.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    expect(await list()).toMatch(/^modified /);
    expect((await at.run(["hooks", "untrust", "--all"])).code).toBe(0);
    expect(await list()).toMatch(/^untrusted /);
    expect(readFileSync(join(at.home, "config.toml"), "utf8")).not.toContain("hooks");
    expect((await at.run(["hooks", "trust", "nonsense"])).code).toBe(2);
  });

  test.each([
    ["its script", "echo // > .agentcli/hooks/protect-*.mjs", ".agentcli/hooks/protect-migrations.mjs"],
    ["its definition", "echo {} > .agentcli/hooks.json", ".agentcli/hooks.json"],
  ])("is lost by a hook when %s changes during the thread: it denies", async (_, change, file) => {
    const text = guard[file as keyof typeof guard];
    const replies = [run(change), run("echo harmless"), say("Done.")];
    const at = await trustingDesk({ replies, files: guard });
    const { events } = await at.events(["--dangerously-bypass-approvals-and-sandbox", "go on"]);
    expect(readFileSync(join(at.repository, file), "utf8")).not.toBe(text);
    expect(itemsOf(events, "hook").at(-1)).toMatchObject({ status: "blocked", reason: "hook modified" });
    expect(toolOutputs(at.requests().at(-1)).at(-1)).toBe(
      "Command blocked by PreToolUse hook: hook modified. Command: echo harmless",
    );
  });
});

describe("a hook", () => {
  test("that blocks the end once makes the agent go on", async () => {
    const script = `const { stop_hook_active: active } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(active ? {} : { decision: "block", reason: "Run the tests first." }));
`;
    const files = {
      ".agentcli/hooks.json": agentcliHooks({ Stop: [{ command: "node stop.cjs" }] }),
      "stop.cjs": script,
    };
    const at = await trustingDesk({ replies: [say("Finished."), say("Tested, too.")], files });
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "agent_message").map(({ text }) => text)).toEqual(["Finished.", "Tested, too."]);
    expect(itemsOf(events, "hook").map(({ status }) => status)).toEqual(["blocked", "completed"]);
    expect(JSON.stringify(at.requests()[1]?.body)).toContain("Run the tests first.");
  });

  test("that takes too long is ended with all it started, and the call goes on", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "sleep 1000 & touch begun; sleep 1000" }] }),
    };
    const at = await trustingDesk({ replies: [run("echo fine"), say("Done.")], files });
    const { code, events } = await at.events(["--limit", "hook=3s", "go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "failed", reason: "no answer within 3000 ms" }]);
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "completed" }]);
    expect(existsSync(join(at.repository, "begun"))).toBe(true);
    await nothingLeft(at.repository);
  });

  test("whose answer nobody understands denies", async () => {
    const files = { ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "echo '{broken'" }] }) };
    const at = await trustingDesk({ replies: [run("echo fine > made.txt"), say("Done.")], files });
    const { events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(existsSync(join(at.repository, "made.txt"))).toBe(false);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "failed", reason: "its output is not a JSON object" }]);
  });

  test("is told what the wire says and does not see the key of the model", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({
        SessionStart: [{ command: "cat > start.json; echo remember the milk" }],
        PreToolUse: [{ command: "cat > before.json; env > env.txt" }],
        PostToolUse: [{ command: "cat > after.json" }],
        SessionEnd: [{ command: "cat > end.json" }],
      }),
    };
    const at = await trustingDesk({ replies: [run("echo fine"), say("Done.")], files });
    const { events } = await at.events(["go on"], { env: { AGENT_API_KEY: "sk-secret-12345678", OTHER: "seen" } });
    const read = (name: string) => JSON.parse(readFileSync(join(at.repository, name), "utf8"));
    const [thread] = events as unknown as { thread_id: string }[];
    const common = {
      session_id: thread?.thread_id,
      turn_id: expect.any(String),
      transcript_path: at.sessionFile(),
      cwd: at.repository,
      hook_event_name: "PreToolUse",
      model: "scripted",
      permission_mode: "bypassPermissions",
    };
    const tool = { tool_name: "Bash", tool_use_id: expect.any(String), tool_input: { command: "echo fine" } };
    expect(read("before.json")).toEqual({ ...common, ...tool });
    expect(Object.keys(read("before.json"))).toEqual([...Object.keys(common), ...Object.keys(tool)]);
    expect(read("after.json")).toMatchObject({ ...tool, tool_response: expect.stringContaining("fine\n") });
    expect(read("start.json")).toMatchObject({ source: "startup" });
    expect(read("end.json")).toMatchObject({ hook_event_name: "SessionEnd", reason: "other" });
    expect(JSON.stringify(at.requests()[0]?.body)).toContain("remember the milk");
    const environment = readFileSync(join(at.repository, "env.txt"), "utf8");
    expect(environment).toContain("OTHER=seen");
    expect(environment).toContain(`AGENT_PROJECT_DIR=${at.repository}`);
    expect(environment).not.toContain("sk-secret");
  });

  test("of a user refuses a prompt: exit code 1", async () => {
    const at = await desk({ replies: [say("never asked")] });
    write(at.home, "hooks.json", agentcliHooks({ UserPromptSubmit: [{ command: "echo not today >&2; exit 2" }] }));
    await at.run(["hooks", "trust"]);
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(1);
    expect(events.at(-1)).toMatchObject({
      type: "turn.failed",
      error: { code: "hook", message: "The UserPromptSubmit hook ended the turn: not today" },
    });
    expect(at.requests()).toEqual([]);
  });
});

describe("a managed hook", () => {
  const managed = (event: string, command: string) =>
    `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = '${command}'\n`;

  test("needs no trust, and a failure of it ends the run with exit code 9", async () => {
    const at = await desk({ replies: [run("echo x > made.txt"), say("Done.")] });
    write(at.home, "requirements.toml", managed("PreToolUse", "exit 1"));
    const { code, events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(9);
    expect(existsSync(join(at.repository, "made.txt"))).toBe(false);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "hook" } });
    expect(itemsOf(events, "hook")).toMatchObject([{ source: "managed", status: "failed", reason: "exit code 1" }]);
  });

  test("may be the only one there is", async () => {
    const at = await trustingDesk({ replies: [run("echo fine"), say("Done.")], files: guard });
    write(at.home, "requirements.toml", `allow_managed_hooks_only = true\n${managed("PreToolUse", "cat > seen.json")}`);
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([{ source: "managed", status: "completed" }]);
  });
});

test("a run without hooks loads nothing of them", async () => {
  const recorder = `process.on("exit", () =>
  require("node:fs").writeFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n")));
`;
  const loaded = async (at: Desk) => {
    write(at.home, "recorder.cjs", recorder);
    const list = join(at.home, "loaded.txt");
    const nodeArguments = ["--require", join(at.home, "recorder.cjs")];
    expect((await at.events(["go on"], { nodeArguments, env: { LOADED: list } })).code).toBe(0);
    return readFileSync(list, "utf8");
  };
  expect(await loaded(await desk({ replies: [say("Done.")] }))).not.toMatch(/compose\d*\.cjs/);
  expect(await loaded(await trustingDesk({ replies: [say("Done.")], files: guard }))).toMatch(/compose\d*\.cjs/);
});
