import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, expectNoProcesses, replyWith, stall, waitForExit } from "@agentcli/testkit";
import { type Event, type Harness, itemsOf } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { agentcliHooks, openTrustingHarness, run } from "./hook-harness.ts";

const made = async (harness: Harness, name: string): Promise<void> => {
  await eventually(() => existsSync(join(harness.repository, name)));
};
const lastTwo = (events: Event[]) =>
  events.slice(-2).map(({ type, item }) => (item as { event?: string })?.event ?? type);
const platformHooks = (hooks: object): string => JSON.stringify({ version: 1, hooks });

describe("hooks at the end of a session", () => {
  test.each([
    ["agentcli", { ".agentcli/hooks.json": agentcliHooks({ SessionEnd: [{ command: "cat > end.json" }] }) }],
    ["platform", { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: "cat > end.json" }] }) }],
  ])("of the %s dialect run before the terminal event, which stays the last line", async (dialect, files) => {
    const harness = await openTrustingHarness({ replies: [replyWith("Done.")], files });
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(0);
    const event = dialect === "agentcli" ? "SessionEnd" : "sessionEnd";
    expect(lastTwo(events)).toEqual([event, "turn.completed"]);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "completed", duration_ms: expect.any(Number) }]);
    expect(JSON.parse(readFileSync(join(harness.repository, "end.json"), "utf8"))).toMatchObject({
      hook_event_name: event,
    });
    expect(harness.records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { status: "completed" } });
  });

  test("receive a failed turn, and do not change its result", async () => {
    const hooks = {
      stop: [{ command: "cat > stop.json; exit 2" }],
      sessionEnd: [{ command: "cat > end.json; exit 1" }],
    };
    const harness = await openTrustingHarness({
      replies: [{ status: 400, body: { error: { message: "no" } } }],
      files: { ".platform/hooks.json": platformHooks(hooks) },
    });
    const { code, events } = await harness.events(["go on"]);
    expect(code).toBe(1);
    expect(events.at(-1)?.type).toBe("turn.failed");
    expect(itemsOf(events, "hook").map(({ event, status }) => [event, status])).toEqual([
      ["stop", "blocked"],
      ["sessionEnd", "failed"],
    ]);
    const read = (name: string) => JSON.parse(readFileSync(join(harness.repository, name), "utf8"));
    expect(read("stop.json")).toMatchObject({ status: "error" });
    expect(read("end.json")).toMatchObject({ reason: "error", final_status: "error" });
  });

  test("do not delay a program that was asked to stop", async () => {
    const files = { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: "touch ending; sleep 1000" }] }) };
    const harness = await openTrustingHarness({ replies: [stall("after-headers")], files });
    const child = harness.start(["exec", "--json", "go on"]);
    const end = waitForExit(child);
    await eventually(() => harness.requests().length > 0);
    child.kill("SIGTERM");
    const { code, stdout } = await end;
    expect(code).toBe(143);
    expect(existsSync(join(harness.repository, "ending"))).toBe(true);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Event);
    expect(lastTwo(events)).toEqual(["sessionEnd", "turn.failed"]);
    await expectNoProcesses(harness.repository);
  });

  test("when killed in the middle, leave a turn that resume completes", async () => {
    const slow = "if [ -e ending ]; then exit 0; fi; touch ending; sleep 1000";
    const files = { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: slow }] }) };
    const harness = await openTrustingHarness({ replies: [replyWith("Done.")], files });
    const child = harness.start(["exec", "--json", "go on"]);
    const end = waitForExit(child);
    await made(harness, "ending");
    child.kill("SIGKILL");
    expect((await end).stdout).not.toContain("turn.completed");
    await expectNoProcesses(harness.repository);
    const { code, events } = await harness.events(["resume", "--last"]);
    expect(code).toBe(0);
    expect(lastTwo(events)).toEqual(["sessionEnd", "turn.completed"]);
    expect(harness.requests()).toHaveLength(1);
  });

  test("run after sub-agents that were not waited for", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({
        PreToolUse: [{ command: "grep -q agent_id && touch asked && sleep 1000; true", timeout: 60 }],
        SessionEnd: [{ command: "true" }],
      }),
    };
    const replies = [
      { ...run("echo child"), when: { bodyIncludes: "You do one piece" } },
      { ...replyWith("Done."), when: { bodyIncludes: "asked-seen" } },
      {
        ...run("until [ -e asked ]; do sleep 0.05; done; echo asked-seen"),
        when: { bodyIncludes: "agent_id" },
      },
      call("spawn_agent", { message: "look", agent_type: "worker" }),
    ];
    const harness = await openTrustingHarness({ replies: { replies, repeat: "always" }, files });
    const { code, events } = await harness.events(["-s", "workspace-write", "--budget", "turns=20", "go on"]);
    expect(code).toBe(0);
    expect(lastTwo(events)).toEqual(["SessionEnd", "turn.completed"]);
    expect(itemsOf(events, "hook").filter(({ agent_id }) => agent_id !== undefined)).toHaveLength(1);
    await expectNoProcesses(harness.repository);
  });
});

test("a program killed with SIGKILL leaves no hook running, nor processes that left its group", async () => {
  const command = "sleep 1000 & setsid sleep 1000 & touch begun; sleep 1000";
  const files = { ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command }] }) };
  const harness = await openTrustingHarness({ replies: [run("echo fine"), replyWith("Done.")], files });
  const child = harness.start(["exec", "--json", "go on"]);
  const end = waitForExit(child);
  await made(harness, "begun");
  child.kill("SIGKILL");
  await end;
  await expectNoProcesses(harness.repository);
});

test("background processes of a hook end with the run", async () => {
  const files = {
    ".agentcli/hooks.json": agentcliHooks({
      PreToolUse: [{ command: "setsid sleep 1000 > /dev/null 2>&1 & touch begun" }],
    }),
  };
  const harness = await openTrustingHarness({ replies: [run("echo fine"), replyWith("Done.")], files });
  expect((await harness.events(["go on"])).code).toBe(0);
  expect(existsSync(join(harness.repository, "begun"))).toBe(true);
  await expectNoProcesses(harness.repository);
});
