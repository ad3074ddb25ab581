import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { say } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { type Desk, desk, itemsOf } from "./harness.ts";
import { agentcliHooks, guard, run, trustingDesk, write } from "./hook-desk.ts";
import { nothingLeft } from "./leftovers.ts";

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

describe("a hook that is a question", () => {
  const question = { type: "prompt", prompt: "May this be run? $ARGUMENTS" };
  test.each([
    ["agentcli", ".agentcli/hooks.json", { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [question] }] } }],
    ["platform", ".platform/hooks.json", { version: 1, hooks: { beforeShellExecution: [question] } }],
  ])("of the %s dialect is put to the model of the thread, which refuses or lets pass", async (_, path, hooks) => {
    const isAsked = (about: string) => ({ bodyIncludes: `\\"command\\":\\"${about}` });
    const replies = [
      { ...say('{"ok": false, "reason": "that deletes things"}'), when: isAsked("rm") },
      { ...say('{"ok": true, "reason": ""}'), when: isAsked("echo") },
      run("rm made.txt"),
      run("echo fine"),
      say("Done."),
    ];
    const at = await trustingDesk({ replies, files: { [path]: JSON.stringify(hooks), "made.txt": "" } });
    const { code, events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expect(existsSync(join(at.repository, "made.txt"))).toBe(true);
    expect(itemsOf(events, "hook")).toMatchObject([
      { status: "blocked", reason: "that deletes things" },
      { status: "completed", reason: "" },
    ]);
    expect(at.requests()).toHaveLength(5);
    const cost = JSON.parse((await at.run(["cost", "--json"])).stdout);
    expect(cost.total).toMatchObject({ requests: 5 });
  });

  test("of type agent is not run, and the run says so", async () => {
    const hooks = { hooks: { Stop: [{ hooks: [{ type: "agent", prompt: "look around" }] }] } };
    const at = await desk({ replies: [say("Done.")], files: { ".agentcli/hooks.json": JSON.stringify(hooks) } });
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "Stop", status: "skipped", reason: expect.stringContaining("type agent is not run") },
    ]);
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
