import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expectNoProcesses, replyWith } from "@agentcli/testkit";
import { type Harness, itemsOf, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { agentcliHooks, guard, openTrustingHarness, run, write } from "./hook-harness.ts";

describe("a hook", () => {
  test("that blocks the end once makes the agent continue", async () => {
    const script = `const { stop_hook_active: active } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(active ? {} : { decision: "block", reason: "Run the tests first." }));
`;
    const files = {
      ".agentcli/hooks.json": agentcliHooks({ Stop: [{ command: "node stop.cjs" }] }),
      "stop.cjs": script,
    };
    const harness = await openTrustingHarness({ replies: [replyWith("Finished."), replyWith("Tested, too.")], files });
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "agent_message").map(({ text }) => text)).toEqual(["Finished.", "Tested, too."]);
    expect(itemsOf(events, "hook").map(({ status }) => status)).toEqual(["blocked", "completed"]);
    expect(JSON.stringify(harness.requests()[1]?.body)).toContain("Run the tests first.");
  });

  test("that times out is killed with all it started, and the call continues", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "sleep 1000 & touch begun; sleep 1000" }] }),
    };
    const harness = await openTrustingHarness({ replies: [run("echo fine"), replyWith("Done.")], files });
    const { code, events } = await harness.events(["--limit", "hook=3s", "go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "failed", reason: "no answer within 3000 ms" }]);
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "completed" }]);
    expect(existsSync(join(harness.repository, "begun"))).toBe(true);
    await expectNoProcesses(harness.repository);
  });

  test("with unparsable output denies", async () => {
    const files = { ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "echo '{broken'" }] }) };
    const harness = await openTrustingHarness({ replies: [run("echo fine > made.txt"), replyWith("Done.")], files });
    const { events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(existsSync(join(harness.repository, "made.txt"))).toBe(false);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "failed", reason: "its output is not a JSON object" }]);
  });

  test("gets the documented payload and does not see the API key", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({
        SessionStart: [{ command: "cat > start.json; echo remember the milk" }],
        PreToolUse: [{ command: "cat > before.json; env > env.txt" }],
        PostToolUse: [{ command: "cat > after.json" }],
        SessionEnd: [{ command: "cat > end.json" }],
      }),
    };
    const harness = await openTrustingHarness({ replies: [run("echo fine"), replyWith("Done.")], files });
    const { events } = await harness.events(["go on"], { env: { AGENT_API_KEY: "sk-secret-12345678", OTHER: "seen" } });
    const read = (name: string) => JSON.parse(readFileSync(join(harness.repository, name), "utf8"));
    const [thread] = events as unknown as { thread_id: string }[];
    const common = {
      session_id: thread?.thread_id,
      turn_id: expect.any(String),
      transcript_path: harness.sessionFile(),
      cwd: harness.repository,
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
    expect(JSON.stringify(harness.requests()[0]?.body)).toContain("remember the milk");
    const environment = readFileSync(join(harness.repository, "env.txt"), "utf8");
    expect(environment).toContain("OTHER=seen");
    expect(environment).toContain(`AGENT_PROJECT_DIR=${harness.repository}`);
    expect(environment).not.toContain("sk-secret");
  });

  test("of a user refuses a prompt: exit code 1", async () => {
    const harness = await openHarness({ replies: [replyWith("never asked")] });
    write(harness.home, "hooks.json", agentcliHooks({ UserPromptSubmit: [{ command: "echo not today >&2; exit 2" }] }));
    await harness.run(["hooks", "trust"]);
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(1);
    expect(events.at(-1)).toMatchObject({
      type: "turn.failed",
      error: { code: "hook", message: "The UserPromptSubmit hook ended the turn: not today" },
    });
    expect(harness.requests()).toEqual([]);
  });
});

describe("a prompt hook", () => {
  const question = { type: "prompt", prompt: "May this be run? $ARGUMENTS" };
  test.each([
    ["agentcli", ".agentcli/hooks.json", { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [question] }] } }],
    ["platform", ".platform/hooks.json", { version: 1, hooks: { beforeShellExecution: [question] } }],
  ])("of the %s dialect is sent to the model of the thread, which denies or allows", async (_, path, hooks) => {
    const isAsked = (about: string) => ({ bodyIncludes: `\\"command\\":\\"${about}` });
    const replies = [
      { ...replyWith('{"ok": false, "reason": "that deletes things"}'), when: isAsked("rm") },
      { ...replyWith('{"ok": true, "reason": ""}'), when: isAsked("echo") },
      run("rm made.txt"),
      run("echo fine"),
      replyWith("Done."),
    ];
    const harness = await openTrustingHarness({ replies, files: { [path]: JSON.stringify(hooks), "made.txt": "" } });
    const { code, events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expect(existsSync(join(harness.repository, "made.txt"))).toBe(true);
    expect(itemsOf(events, "hook")).toMatchObject([
      { status: "blocked", reason: "that deletes things" },
      { status: "completed", reason: "" },
    ]);
    expect(harness.requests()).toHaveLength(5);
    const cost = JSON.parse((await harness.run(["cost", "--json"])).stdout);
    expect(cost.total).toMatchObject({ requests: 5 });
  });

  test("that names a model is asked at the provider of that model", async () => {
    const judging = { ...question, model: "judge" };
    const hooks = { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [judging] }] } };
    const harness = await openTrustingHarness({
      replies: [replyWith('{"ok": false, "reason": "not on Fridays"}')],
      files: { ".agentcli/hooks.json": JSON.stringify(hooks) },
    });
    const { events } = await harness.events(["-m", "practice", "run echo hi"]);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: "not on Fridays" }]);
    expect(harness.requests()).toMatchObject([{ body: { model: "judge" } }]);
    const nowhere = await harness.events(["-m", "practice", "-c", "model_provider='gone'", "run echo hi"]);
    expect(itemsOf(nowhere.events, "hook")).toMatchObject([
      { status: "failed", reason: expect.stringContaining("the model judge cannot be asked: ") },
    ]);
  });

  test("of type agent is not run, with a warning", async () => {
    const hooks = { hooks: { Stop: [{ hooks: [{ type: "agent", prompt: "look around" }] }] } };
    const harness = await openHarness({
      replies: [replyWith("Done.")],
      files: { ".agentcli/hooks.json": JSON.stringify(hooks) },
    });
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "Stop", status: "skipped", reason: expect.stringContaining("type agent is not run") },
    ]);
  });
});

describe("a managed hook", () => {
  const managed = (event: string, command: string) =>
    `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = '${command}'\n`;

  test("needs no trust, and its failure ends the run with exit code 9", async () => {
    const harness = await openHarness({ replies: [run("echo x > made.txt"), replyWith("Done.")] });
    write(harness.home, "requirements.toml", managed("PreToolUse", "exit 1"));
    const { code, events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(9);
    expect(existsSync(join(harness.repository, "made.txt"))).toBe(false);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "hook" } });
    expect(itemsOf(events, "hook")).toMatchObject([{ source: "managed", status: "failed", reason: "exit code 1" }]);
  });

  test("may be the only one there is", async () => {
    const harness = await openTrustingHarness({ replies: [run("echo fine"), replyWith("Done.")], files: guard });
    write(
      harness.home,
      "requirements.toml",
      `allow_managed_hooks_only = true\n${managed("PreToolUse", "cat > seen.json")}`,
    );
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "hook")).toMatchObject([{ source: "managed", status: "completed" }]);
  });
});

test("a run without hooks loads nothing of them", async () => {
  const recorder = `process.on("exit", () =>
  require("node:fs").writeFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n")));
`;
  const loaded = async (harness: Harness) => {
    write(harness.home, "recorder.cjs", recorder);
    const list = join(harness.home, "loaded.txt");
    const nodeArguments = ["--require", join(harness.home, "recorder.cjs")];
    expect((await harness.events(["go on"], { nodeArguments, env: { LOADED: list } })).code).toBe(0);
    return readFileSync(list, "utf8");
  };
  expect(await loaded(await openHarness({ replies: [replyWith("Done.")] }))).not.toMatch(/hooks\d*\.cjs/);
  expect(await loaded(await openTrustingHarness({ replies: [replyWith("Done.")], files: guard }))).toMatch(
    /hooks\d*\.cjs/,
  );
});
