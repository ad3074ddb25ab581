import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, say, stall } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { type Desk, type Event, ended, itemsOf } from "./harness.ts";
import { agentcliHooks, run, trustingDesk } from "./hook-desk.ts";
import { nothingLeft } from "./leftovers.ts";

const made = async (at: Desk, name: string): Promise<void> => {
  await eventually(() => existsSync(join(at.repository, name)));
};
const lastTwo = (events: Event[]) =>
  events.slice(-2).map(({ type, item }) => (item as { event?: string })?.event ?? type);
const platformHooks = (hooks: object): string => JSON.stringify({ version: 1, hooks });

describe("hooks at the end of a session", () => {
  test.each([
    ["agentcli", { ".agentcli/hooks.json": agentcliHooks({ SessionEnd: [{ command: "cat > end.json" }] }) }],
    ["platform", { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: "cat > end.json" }] }) }],
  ])("of the %s dialect show before the terminal event, which stays the last line", async (dialect, files) => {
    const at = await trustingDesk({ replies: [say("Done.")], files });
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(0);
    const event = dialect === "agentcli" ? "SessionEnd" : "sessionEnd";
    expect(lastTwo(events)).toEqual([event, "turn.completed"]);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "completed", duration_ms: expect.any(Number) }]);
    expect(JSON.parse(readFileSync(join(at.repository, "end.json"), "utf8"))).toMatchObject({ hook_event_name: event });
    expect(at.records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { status: "completed" } });
  });

  test("hear of a turn that failed, and change nothing about it", async () => {
    const hooks = {
      stop: [{ command: "cat > stop.json; exit 2" }],
      sessionEnd: [{ command: "cat > end.json; exit 1" }],
    };
    const at = await trustingDesk({
      replies: [{ status: 400, body: { error: { message: "no" } } }],
      files: { ".platform/hooks.json": platformHooks(hooks) },
    });
    const { code, events } = await at.events(["go on"]);
    expect(code).toBe(1);
    expect(events.at(-1)?.type).toBe("turn.failed");
    expect(itemsOf(events, "hook").map(({ event, status }) => [event, status])).toEqual([
      ["stop", "blocked"],
      ["sessionEnd", "failed"],
    ]);
    const read = (name: string) => JSON.parse(readFileSync(join(at.repository, name), "utf8"));
    expect(read("stop.json")).toMatchObject({ status: "error" });
    expect(read("end.json")).toMatchObject({ reason: "error", final_status: "error" });
  });

  test("do not keep a program that was told to stop", async () => {
    const files = { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: "touch ending; sleep 1000" }] }) };
    const at = await trustingDesk({ replies: [stall("after-headers")], files });
    const child = at.start(["exec", "--json", "go on"]);
    const end = ended(child);
    await eventually(() => at.requests().length > 0);
    child.kill("SIGTERM");
    const { code, stdout } = await end;
    expect(code).toBe(143);
    expect(existsSync(join(at.repository, "ending"))).toBe(true);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Event);
    expect(lastTwo(events)).toEqual(["sessionEnd", "turn.failed"]);
    await nothingLeft(at.repository);
  });

  test("killed in the middle leave a turn that resume ends", async () => {
    const slow = "if [ -e ending ]; then exit 0; fi; touch ending; sleep 1000";
    const files = { ".platform/hooks.json": platformHooks({ sessionEnd: [{ command: slow }] }) };
    const at = await trustingDesk({ replies: [say("Done.")], files });
    const child = at.start(["exec", "--json", "go on"]);
    const end = ended(child);
    await made(at, "ending");
    child.kill("SIGKILL");
    expect((await end).stdout).not.toContain("turn.completed");
    await nothingLeft(at.repository);
    const { code, events } = await at.events(["resume", "--last"]);
    expect(code).toBe(0);
    expect(lastTwo(events)).toEqual(["sessionEnd", "turn.completed"]);
    expect(at.requests()).toHaveLength(1);
  });

  test("come after sub-agents that nobody waited for", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({
        PreToolUse: [{ command: "grep -q agent_id && touch asked && sleep 1000; true", timeout: 60 }],
        SessionEnd: [{ command: "true" }],
      }),
    };
    const replies = [
      { ...run("echo child"), when: { bodyIncludes: "You carry out one piece" } },
      { ...say("Done."), when: { bodyIncludes: "asked-seen" } },
      {
        ...run("until [ -e asked ]; do sleep 0.05; done; echo asked-seen"),
        when: { bodyIncludes: "agent_id" },
      },
      call("spawn_agent", { message: "look", agent_type: "worker" }),
    ];
    const at = await trustingDesk({ replies: { replies, repeat: "always" }, files });
    const { code, events } = await at.events(["-s", "workspace-write", "--budget", "turns=20", "go on"]);
    expect(code).toBe(0);
    expect(lastTwo(events)).toEqual(["SessionEnd", "turn.completed"]);
    expect(itemsOf(events, "hook").filter(({ agent_id }) => agent_id !== undefined)).toHaveLength(1);
    await nothingLeft(at.repository);
  });
});

test("a program killed with SIGKILL leaves no hook behind, nor what left its group", async () => {
  const command = "sleep 1000 & setsid sleep 1000 & touch begun; sleep 1000";
  const files = { ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command }] }) };
  const at = await trustingDesk({ replies: [run("echo fine"), say("Done.")], files });
  const child = at.start(["exec", "--json", "go on"]);
  const end = ended(child);
  await made(at, "begun");
  child.kill("SIGKILL");
  await end;
  await nothingLeft(at.repository);
});

test("what a hook leaves behind ends with the run", async () => {
  const files = {
    ".agentcli/hooks.json": agentcliHooks({
      PreToolUse: [{ command: "setsid sleep 1000 > /dev/null 2>&1 & touch begun" }],
    }),
  };
  const at = await trustingDesk({ replies: [run("echo fine"), say("Done.")], files });
  expect((await at.events(["go on"])).code).toBe(0);
  expect(existsSync(join(at.repository, "begun"))).toBe(true);
  await nothingLeft(at.repository);
});
