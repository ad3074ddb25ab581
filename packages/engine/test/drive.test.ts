import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServer, type WorkspaceServer } from "@agentcli/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { builtInTools, drive, emptyThread, openLog, readThread, type StoredRecord, type Tool } from "../src/index.ts";
import { calls, memoryStore, openHarness, replies, textReply } from "./thread-harness.ts";

let root: string;
let workspace: WorkspaceServer;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "engine-"));
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  workspace = await openServer({ root, writable: "anywhere", env, incarnation: "first", orphans: "ended-by-watchdog" });
});
afterEach(async () => {
  await workspace.close();
  rmSync(root, { recursive: true });
});

const never = new AbortController().signal;
const sandboxReport = {
  mode: "workspace-write",
  backend: "none",
  fs: "none",
  net: "on",
  pid: false,
  syscalls: false,
} as const;

describe("a turn", () => {
  test("records each effect before and after it happens", async () => {
    const script = [replies([calls("exec_command", { cmd: "echo hi > made.txt" })]), textReply("Made.")];
    const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
    await thread.begin("make it");
    const state = await drive(thread.log, thread.dependencies, never);
    expect(thread.types()).toEqual([
      "thread.created",
      "turn.begun",
      "model.replied",
      "tool.begun",
      "tool.settled",
      "model.replied",
      "turn.ended",
    ]);
    expect(state.end).toEqual({ status: "completed", message: "Made." });
    expect(readFileSync(join(root, "made.txt"), "utf8")).toBe("hi\n");
  });

  test("settles every call before the next request, whatever its outcome", async () => {
    const mixed = [
      calls("exec_command", { cmd: "exit 1" }, "a"),
      calls("nonsense", {}, "b"),
      calls("read_file", "{", "c"),
    ];
    const thread = await openHarness((_, number) => (number === 0 ? replies(mixed) : textReply("Done.")), workspace);
    await thread.begin("try it");
    await drive(thread.log, thread.dependencies, never);
    const results = thread.requests[1]?.messages.filter((message) => message.role === "tool");
    expect(results?.map((message) => message.role === "tool" && message.wireId).sort()).toEqual(["a", "b", "c"]);
  });

  test("shows the same events when its log is replayed", async () => {
    const script = [
      replies([calls("update_plan", { plan: [{ step: "one", status: "pending" }] })]),
      textReply("Done."),
    ];
    const live = execEvents();
    const seen: string[] = [];
    const emit = (stored: StoredRecord) => void seen.push(JSON.stringify(live(stored)));
    const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace, { emit });
    await thread.log.write({ type: "noted", kind: "sandbox", data: sandboxReport });
    await thread.begin("plan");
    await drive(thread.log, thread.dependencies, never);
    const replay = execEvents();
    const again = thread.store.records.map((stored) => JSON.stringify(replay(stored)));
    expect(again).toEqual(seen);
    expect(seen.join("")).toContain("turn.completed");
  });

  test("whose calls repeat an id gets each call its own result", async () => {
    const plan = (step: string) => calls("update_plan", { plan: [{ step, status: "pending" }] }, "same");
    const script = [replies([plan("a"), plan("b"), { ...plan("c"), wireId: "same_2" }]), textReply("Done.")];
    const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
    await thread.begin("plan");
    await drive(thread.log, thread.dependencies, never);
    const asked = thread.requests[1]?.messages.flatMap((message) => (message.role === "tool" ? [message.wireId] : []));
    expect(new Set(asked).size).toBe(3);
    expect(asked?.[0]).toBe("same");
  });

  test("with hundreds of calls in one reply runs them all, a few at a time", async () => {
    let running = 0;
    let most = 0;
    const plan = builtInTools.find(({ name }) => name === "update_plan") as Tool;
    const slow: Tool = {
      ...plan,
      parallel: true,
      async run(args, context) {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return plan.run(args, context);
      },
    };
    const call = calls("update_plan", { plan: [{ step: "x", status: "pending" }] });
    const many = Array.from({ length: 300 }, () => call);
    const thread = await openHarness((_, number) => (number === 0 ? replies(many) : textReply("Done.")), workspace, {
      tools: [slow],
    });
    await thread.begin("all of it");
    expect((await drive(thread.log, thread.dependencies, never)).end).toMatchObject({ status: "completed" });
    expect(thread.types().filter((type) => type === "tool.settled")).toHaveLength(300);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(100);
  });

  test("waits for a provider, even if it asks to retry immediately", async () => {
    const waits: number[] = [];
    const fault = { code: "rate_limited", message: "slow down", retryAfterMs: 0 } as const;
    const thread = await openHarness(
      (_, number) => (number < 2 ? { kind: "fault", fault } : textReply("Done.")),
      workspace,
    );
    await thread.begin("wait", { onLimit: "wait" });
    const wait = async (ms: number) => void waits.push(ms);
    await drive(thread.log, { ...thread.dependencies, wait }, never);
    expect(waits).toEqual([1000, 1000]);
  });

  test("that is stopped settles its open calls, ends cancelled and leaves no process", async () => {
    const stop = new AbortController();
    const thread = await openHarness(
      () => replies([calls("exec_command", { cmd: "echo $$ > pid; sleep 1000" })]),
      workspace,
    );
    await thread.begin("sleep");
    const driven = drive(thread.log, thread.dependencies, stop.signal);
    const pid = await waitFor(() => Number(readFileSync(join(root, "pid"), "utf8")));
    stop.abort({ end: { status: "cancelled", reason: "told to stop" } });
    expect((await driven).end).toEqual({ status: "cancelled", reason: "told to stop" });
    expect(thread.types().slice(-2)).toEqual(["tool.settled", "turn.ended"]);
    expect(() => process.kill(pid, 0)).toThrow();
  });
});

describe("a thread resumed by another process", () => {
  test("is folded to the same state", async () => {
    const thread = await openHarness((_, number) => textReply(`Answer ${number}.`), workspace);
    for (const prompt of ["one", "two"]) {
      await thread.begin(prompt);
      await drive(thread.log, thread.dependencies, never);
    }
    const { state } = await readThread(thread.store, "thread");
    expect(state).toEqual(thread.log.state);
  });

  test("re-attaches to a process of the same incarnation instead of starting it again", async () => {
    const command = "echo run >> runs.txt; sleep 0.3; echo end";
    const thread = await openHarness((_, number) => (number === 0 ? textReply("Joined.") : textReply("?")), workspace);
    await thread.begin("run");
    await thread.log.write(
      { type: "model.replied", blocks: [calls("exec_command", { cmd: command })], usage: zero, model: "scripted" },
      {
        type: "tool.begun",
        callId: "3.0",
        name: "exec_command",
        args: { cmd: command },
        incarnation: "first",
        onResume: "once",
      },
    );
    void workspace.exec({ id: "3.0", start: { argv: ["/bin/bash", "-c", command] } }, () => {}, never);
    await drive(thread.log, thread.dependencies, never);
    expect(readFileSync(join(root, "runs.txt"), "utf8")).toBe("run\n");
    expect(JSON.stringify(thread.requests[0]?.messages)).toContain("end\\n");
  });

  test("of two writers the stale one is fenced off", async () => {
    const store = memoryStore();
    const [first, second] = [1, 2].map(() => openLog(emptyThread("thread"), { store, emit() {} }));
    const note = { type: "noted", kind: "warning", data: { message: "mine" } } as const;
    await first?.write(note);
    await expect(second?.write(note)).rejects.toThrow("is being written by another process");
    expect(store.records).toHaveLength(1);
  });
});

const zero = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

async function waitFor<T>(look: () => T): Promise<T> {
  for (;;) {
    try {
      const found = look();
      if (found) return found;
    } catch {
      // The file does not exist yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
