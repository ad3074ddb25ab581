// One conversation with everything in it, driven by the same client over every wire.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, processesIn, type Reply, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Message, startServer, summarize, wires } from "./client.ts";
import { completedItems, runTurn, text } from "./turns.ts";

/** Every sandbox has its own /tmp. */
function outsideTmp(): string {
  const directory = mkdtempSync("/var/tmp/agentcli-test-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe.each(wires)("over %s", (wire) => {
  test("a conversation with approvals, a failing command, a file change, a sub-agent, an interruption and a resume", async () => {
    const elsewhere = outsideTmp();
    const escalated = (name: string) => ({
      cmd: `echo kept > ${join(elsewhere, name)}`,
      sandbox_permissions: "require_escalated",
      justification: "it is wanted there",
    });
    const replies: Reply[] = [
      call("exec_command", escalated("accepted")),
      replyWith("Written."),
      call("exec_command", escalated("declined")),
      replyWith("Not written."),
      call("exec_command", { cmd: "echo before; exit 7" }),
      replyWith("It failed."),
      freeform("apply_patch", "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"),
      freeform("apply_patch", `*** Begin Patch\n*** Add File: ${join(elsewhere, "far.txt")}\n+far\n*** End Patch\n`),
      replyWith("Both are there."),
      call("spawn_agent", { message: "Look around for the parent." }, { when: { bodyIncludes: "Use an agent." } }),
      replyWith("I looked around.", { when: { bodyIncludes: "Look around for the parent." } }),
      replyWith("The agent has been asked."),
      call("exec_command", { cmd: "echo started; sleep 987.125", yield_time_ms: 30000 }),
      replyWith("Back again."),
    ];
    const harness = await openHarness({ replies });
    const server = await startServer(harness, wire);
    const client = await server.connect();
    const { thread } = await client.request("thread/start", {
      sandbox: "workspace-write",
      approvalPolicy: "on-request",
    });
    const threadId = thread.id;

    client.answerRequests("item/commandExecution/requestApproval", () => ({ decision: "accept" }));
    const approved = await runTurn(client, threadId, "Write it.");
    expect(approved.status).toBe("completed");
    expect(existsSync(join(elsewhere, "accepted"))).toBe(true);
    expect(summarize(client.received, threadId)).toEqual([
      "thread/started",
      "thread/status/changed(active)",
      "turn/started(inProgress)",
      "item/started(userMessage)",
      "item/completed(userMessage)",
      "item/started(commandExecution)",
      "thread/status/changed(active:waitingOnApproval)",
      "item/commandExecution/requestApproval",
      "serverRequest/resolved",
      "thread/status/changed(active)",
      "item/completed(commandExecution)",
      "thread/tokenUsage/updated",
      "item/started(agentMessage)",
      "item/completed(agentMessage)",
      "thread/tokenUsage/updated",
      "thread/status/changed(idle)",
      "turn/completed(completed)",
    ]);

    client.answerRequests("item/commandExecution/requestApproval", () => ({ decision: "decline" }));
    const declined = await runTurn(client, threadId, "Write another.");
    expect(declined).toMatchObject({ status: "completed", items: [{ text: "Not written." }] });
    expect(completedItems(client, declined.id, "commandExecution")).toMatchObject([{ status: "declined" }]);
    expect(existsSync(join(elsewhere, "declined"))).toBe(false);

    const failing = await runTurn(client, threadId, "Let one fail.");
    expect(completedItems(client, failing.id, "commandExecution")).toMatchObject([
      { status: "failed", exitCode: 7, aggregatedOutput: "before\n" },
    ]);

    client.answerRequests("item/fileChange/requestApproval", () => ({ decision: "accept" }));
    const patched = await runTurn(client, threadId, "Make two files.");
    expect(completedItems(client, patched.id, "fileChange")).toMatchObject([
      { status: "completed", changes: [{ path: "made.txt", kind: { type: "add" }, diff: "made\n" }] },
      { status: "completed" },
    ]);
    expect(readFileSync(join(harness.repository, "made.txt"), "utf8")).toBe("made\n");
    expect(readFileSync(join(elsewhere, "far.txt"), "utf8")).toBe("far\n");
    const asked = client.received.filter(({ method }) => method === "item/fileChange/requestApproval");
    expect(asked).toHaveLength(1);
    const diffs = client.received.filter(({ method }) => method === "turn/diff/updated");
    expect(diffs.at(-1)?.params.diff).toContain("+made\n");

    const delegated = await runTurn(client, threadId, "Use an agent.");
    const [spawned] = completedItems(client, delegated.id, "collabAgentToolCall");
    expect(spawned).toMatchObject({ tool: "spawnAgent", status: "completed", senderThreadId: threadId });
    const [childId] = spawned.receiverThreadIds;
    const child = await client.waitFor(
      ({ method, params }) => method === "thread/started" && params.thread.id === childId,
    );
    expect(child.params.thread).toMatchObject({ parentThreadId: threadId, agentRole: "default" });
    const childEnd = await client.waitFor(
      ({ method, params }) => method === "turn/completed" && params.threadId === childId,
    );
    expect(childEnd.params.turn.items).toMatchObject([{ text: "I looked around." }]);

    const { turn: long } = await client.request("turn/start", { threadId, input: text("Take your time.") });
    await client.waitFor(
      ({ method, params }) => method === "item/commandExecution/outputDelta" && params.turnId === long.id,
    );
    await client.request("turn/interrupt", { threadId, turnId: long.id });
    const isEnd = ({ method, params }: Message) => method === "turn/completed" && params.turn.id === long.id;
    expect((await client.waitFor(isEnd)).params.turn.status).toBe("interrupted");
    const remaining = () => processesIn(harness.repository).filter((process) => process.includes("sleep 987.125"));
    await expect.poll(remaining).toEqual([]);

    const before = await client.request("thread/read", { threadId, includeTurns: true });
    expect(await server.end()).toBe(wire === "stdio" ? 0 : 143);

    const second = await startServer(harness, wire);
    const again = await second.connect();
    const resumed = await again.request("thread/resume", { threadId });
    expect(resumed.thread.turns).toEqual(before.thread.turns);
    expect(resumed.sandbox.type).toBe("workspaceWrite");
    const last = await runTurn(again, threadId, "Are you there?");
    expect(last.items).toMatchObject([{ text: "Back again." }]);
    expect(await second.end()).toBe(wire === "stdio" ? 0 : 143);
  });
});
