// Calls that need an approval: requested once, decided in the log, run inside or outside the sandbox as decided.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServer, type WorkspaceServer } from "@agentcli/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ApprovalQuestion,
  type Approver,
  type Decision,
  drive,
  type Judgement,
  openLog,
  policyGuard,
  readThread,
  writableRootsGuard,
} from "../src/index.ts";
import { sessionIdOf } from "../src/tools/session-id.ts";
import { calls, memoryStore, openHarness, replies, settings, textReply, usage } from "./thread-harness.ts";

let root: string;
let inside: WorkspaceServer;
let outside: WorkspaceServer;
const never = new AbortController().signal;

const openAt = (name: string) =>
  openServer({
    root,
    writable: "anywhere",
    env: { PATH: process.env.PATH ?? "", HOME: root, LOCATION: name },
    incarnation: name,
    orphans: "ended-by-watchdog",
  });

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "engine-"));
  inside = await openAt("inside");
  outside = await openAt("outside");
});
afterEach(async () => {
  await inside.close();
  await outside.close();
  rmSync(root, { recursive: true });
});

function person(
  decision: Decision | Judgement | ((question: ApprovalQuestion) => Decision),
): Approver & { asked: ApprovalQuestion[] } {
  const asked: ApprovalQuestion[] = [];
  return {
    asked,
    remembers: () => false,
    async approve(question) {
      asked.push(question);
      const given = typeof decision === "function" ? decision(question) : decision;
      return typeof given === "string" ? { decision: given } : given;
    },
    answer: async () => null,
  };
}

const escalated = (cmd: string) => calls("exec_command", { cmd, sandbox_permissions: "require_escalated" });

async function thread(script: ReturnType<typeof textReply>[], approver: Approver | undefined) {
  const opened = await openHarness((_, number) => script[number] ?? textReply("?"), inside);
  await opened.begin("do it", { approval: "on-request" });
  return { ...opened, dependencies: { ...opened.dependencies, unsandboxedWorkspace: outside, approver } };
}

const outputs = ({ messages }: { messages: { role: string; parts?: unknown }[] }) =>
  messages.flatMap((message) => (message.role === "tool" ? [JSON.stringify(message.parts)] : []));

describe("an escalation", () => {
  test("runs outside the sandbox once the user accepts it, and so does later input to it", async () => {
    const approver = person("accept");
    const cmd = "echo $LOCATION; read line; echo $LOCATION $line";
    const args = { cmd, sandbox_permissions: "require_escalated", yield_time_ms: 250 };
    const typed = { session_id: sessionIdOf("3.0"), chars: "hello\n", yield_time_ms: 5000 };
    const script = [replies([calls("exec_command", args)]), replies([calls("write_stdin", typed)]), textReply("Done.")];
    const { log, dependencies } = await thread(script, approver);
    const state = await drive(log, dependencies, never);
    expect(approver.asked).toMatchObject([{ callId: "3.0", name: "exec_command", threadId: "thread" }]);
    expect(outputs(state).join("\n")).toMatch(/outside.*outside hello/s);
  });

  test("with a shell that the model names is declined: its program would run instead of what the user approves", async () => {
    const approver = person("accept");
    const shell = join(root, "planted");
    writeFileSync(shell, `#!/bin/sh\ntouch ${root}/ran\n`, { mode: 0o755 });
    const args = { cmd: "npm test", shell, sandbox_permissions: "require_escalated" };
    const { log, dependencies } = await thread([replies([calls("exec_command", args)]), textReply("Fine.")], approver);
    const state = await drive(log, dependencies, never);
    expect(approver.asked).toEqual([]);
    expect(outputs(state).join("")).toContain("commands run in the user's own shell");
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  test("is not run when the user declines it, and the turn continues", async () => {
    const { log, dependencies } = await thread(
      [replies([escalated("touch made.txt")]), textReply("Fine.")],
      person("decline"),
    );
    const state = await drive(log, dependencies, never);
    expect(state.end).toEqual({ status: "completed", message: "Fine." });
    expect(outputs(state)).toEqual([JSON.stringify([{ type: "text", text: "rejected by user" }])]);
    expect(existsSync(join(root, "made.txt"))).toBe(false);
  });

  test("that the user declines with a reason has it in what the model reads", async () => {
    const { log, dependencies } = await thread(
      [replies([escalated("touch made.txt")]), textReply("Fine.")],
      person({ decision: "decline", reason: "use the Makefile" }),
    );
    const state = await drive(log, dependencies, never);
    expect(outputs(state)).toEqual([JSON.stringify([{ type: "text", text: "rejected by user: use the Makefile" }])]);
  });

  test("is declined in an unattended run, without a request in the log", async () => {
    const { log, dependencies, types } = await thread([replies([escalated("true")]), textReply("Fine.")], undefined);
    const state = await drive(log, dependencies, never);
    expect(outputs(state)[0]).toContain("no user is present to give one");
    expect(types()).not.toContain("noted");
  });

  test("is not requested again after a crash at any record", async () => {
    const script = [replies([escalated("echo once >> made.txt")]), textReply("Done.")];
    const whole = await thread(script, person("accept"));
    await drive(whole.log, whole.dependencies, never);
    const { records } = whole.store;
    const answered = records.findIndex(({ record }) => record.type === "noted" && "decision" in record.data);
    const begun = records.findIndex(({ record }) => record.type === "tool.begun");
    expect([answered, begun]).toEqual([4, 5]);
    for (let length = 3; length < records.length; length += 1) {
      const store = memoryStore();
      store.records.push(...records.slice(0, length));
      const { state } = await readThread(store, "thread");
      const approver = person("accept");
      const model = { reply: async () => (state.seq < 3 ? textReply("?") : textReply("Done.")) };
      const end = await drive(openLog(state, { store, emit() {} }), { ...whole.dependencies, model, approver }, never);
      expect(approver.asked.length, `cut after record ${length}`).toBe(length <= answered ? 1 : 0);
      expect(end.end).toEqual({ status: "completed", message: "Done." });
    }
  });

  test("is requested again when the arguments changed", async () => {
    const { log, store } = await thread([], undefined);
    await log.write({ type: "model.replied", blocks: [escalated("echo b")], usage: usage(), model: "scripted" });
    const data = { callId: "3.0", decision: "accept", by: "user", args: { cmd: "echo a" }, outside: true } as const;
    await log.write({ type: "noted", kind: "approval", data });
    const { state } = await readThread(store, "thread");
    const approver = person("decline");
    const opened = await openHarness(() => textReply("Done."), inside);
    await drive(
      openLog(state, { store, emit() {} }),
      { ...opened.dependencies, approver, unsandboxedWorkspace: outside },
      never,
    );
    expect(approver.asked).toHaveLength(1);
  });

  test("that the user cancels leaves the call to the end of the turn", async () => {
    const stop = new AbortController();
    const approver = person(() => {
      stop.abort({ end: { status: "cancelled", reason: "Cancelled." } });
      return "cancel";
    });
    const { log, dependencies } = await thread([replies([escalated("touch made.txt")])], approver);
    const state = await drive(log, dependencies, stop.signal);
    expect(state.end).toEqual({ status: "cancelled", reason: "Cancelled." });
    expect(existsSync(join(root, "made.txt"))).toBe(false);
  });
});

describe("a patch", () => {
  const patch = (path: string) => ({
    name: "apply_patch",
    args: { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` },
  });
  const guard = writableRootsGuard(["/project", "/more"], policyGuard);
  const asking = { ...settings, approval: "on-request" as const };

  test.each([
    ["a.txt", "allowed"],
    ["/project/sub/../a.txt", "allowed"],
    ["/more/a.txt", "allowed"],
    ["/tmp/a.txt", "allowed"],
    ["../a.txt", "unapproved"],
    ["/projects/a.txt", "unapproved"],
    ["sub/../../more/../etc/a.txt", "unapproved"],
  ])("of %s is %s", async (path, kind) => {
    expect((await guard.admit(patch(path), asking)).kind).toBe(kind);
    expect((await guard.admit(patch(path), settings)).kind).toBe("allowed");
  });

  const input = `*** Begin Patch
*** Update File: a.txt
@@
-one
+ONE
@@ three
-four
+FOUR
*** Add File: b.txt
+new
*** Update File: c.txt
*** Move to: d.txt
@@
 see
-more
*** End of File
*** End Patch`;

  test.each([
    { refused: [1, 2], a: "ONE\ntwo\nthree\nfour\n", b: false, d: true },
    { refused: [0, 3], a: "one\ntwo\nthree\nFOUR\n", b: true, d: false },
    { refused: [], a: "ONE\ntwo\nthree\nFOUR\n", b: true, d: true },
  ])("accepted without its hunks $refused changes the rest, and the model reads so", async ({ refused, a, b, d }) => {
    writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\nfour\n");
    writeFileSync(join(root, "c.txt"), "see\nmore\n");
    const script = [replies([calls("apply_patch", { input })]), textReply("Fine.")];
    const opened = await openHarness((_, number) => script[number] ?? textReply("?"), inside);
    await opened.begin("do it", { approval: "on-request", sandbox: "read-only" });
    const approver = person({ decision: "accept", refusedHunks: refused, reason: "too early" });
    const dependencies = { ...opened.dependencies, unsandboxedWorkspace: outside, approver };
    const state = await drive(opened.log, dependencies, never);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(a);
    expect([existsSync(join(root, "b.txt")), existsSync(join(root, "d.txt"))]).toEqual([b, d]);
    const [output = ""] = outputs(state);
    expect(output.includes("only in part")).toBe(refused.length > 0);
    expect(output.includes("Reason of the user: too early")).toBe(refused.length > 0);
    expect(output.includes("+FOUR")).toBe(refused.includes(1));
  });

  test("of which every hunk is refused is declined", async () => {
    const script = [replies([calls("apply_patch", patch("a.txt").args)]), textReply("Fine.")];
    const opened = await openHarness((_, number) => script[number] ?? textReply("?"), inside);
    await opened.begin("do it", { approval: "on-request", sandbox: "read-only" });
    const approver = person({ decision: "accept", refusedHunks: [0] });
    const state = await drive(opened.log, { ...opened.dependencies, unsandboxedWorkspace: outside, approver }, never);
    expect(outputs(state)).toEqual([JSON.stringify([{ type: "text", text: "rejected by user" }])]);
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });

  test("in a read-only sandbox needs an approval, and is declined under never", async () => {
    const readOnly = { ...asking, sandbox: "read-only" as const };
    expect((await guard.admit(patch("a.txt"), readOnly)).kind).toBe("unapproved");
    expect((await guard.admit(patch("a.txt"), { ...readOnly, approval: "never" })).kind).toBe("declined");
  });
});

test("input sent to a running turn is added when its calls are settled, before the next request", async () => {
  const sent = [{ input: [{ type: "text" as const, text: "and this" }], clientId: "mine" }];
  const opened = await openHarness(
    (_, number) => (number === 0 ? replies([calls("exec_command", { cmd: "true" })]) : textReply("Done.")),
    inside,
  );
  await opened.begin("go");
  let turn = 0;
  const steering = () => (turn++ === 1 ? sent.splice(0) : []);
  await drive(opened.log, { ...opened.dependencies, steering }, never);
  expect(opened.types()).toEqual([
    "thread.created",
    "turn.begun",
    "model.replied",
    "tool.begun",
    "tool.settled",
    "input.added",
    "model.replied",
    "turn.ended",
  ]);
});
