// Approval requests to the client that started the turn.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, type Reply, replyWith } from "@agentcli/testkit";
import { type Harness, type HarnessOptions, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "./client.ts";
import { completedItems, messagesOf, runTurn, startTurn, turnEnd } from "./turns.ts";

const question = "item/commandExecution/requestApproval";

async function opened(options: HarnessOptions, sandbox = "workspace-write") {
  const harness = await openHarness(options);
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", { sandbox, approvalPolicy: "on-request" });
  return { harness, server, client, threadId: thread.id as string };
}

const escalated = (cmd: string): Reply =>
  call("exec_command", { cmd, sandbox_permissions: "require_escalated", justification: "please" });

/** Every sandbox has its own /tmp. */
function outsideTmp(): string {
  const directory = mkdtempSync("/var/tmp/agentcli-test-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const notes = (harness: Harness) =>
  harness
    .records()
    .filter(({ record }) => record.type === "noted" && record.kind === "approval")
    .map(({ record }) => record.data as Record<string, unknown>);

test("what is accepted for the session is asked once, and both answers are in the log", async () => {
  const { harness, client, threadId } = await opened({
    replies: [escalated("true"), escalated("true"), replyWith("Done.")],
  });
  client.answerRequests(question, () => ({ decision: "acceptForSession" }));
  await runTurn(client, threadId, "Do it twice.");
  expect(messagesOf(client, question)).toMatchObject([
    { command: "/bin/bash -lc true", cwd: harness.repository, reason: "please", itemId: "call-4.0" },
  ]);
  expect(notes(harness)).toMatchObject([
    { asked: true, callId: "4.0", args: { cmd: "true" } },
    { callId: "4.0", decision: "acceptForSession", by: "user", outside: true },
    { decision: "accept", by: "session", outside: true },
  ]);
});

test("cancel interrupts the turn, and the command never ran", async () => {
  const directory = outsideTmp();
  const { client, threadId } = await opened({ replies: [escalated(`touch ${directory}/x`), replyWith("Never said.")] });
  client.answerRequests(question, () => ({ decision: "cancel" }));
  const turn = await runTurn(client, threadId, "Do it.");
  expect(turn.status).toBe("interrupted");
  expect(completedItems(client, turn.id, "commandExecution")).toMatchObject([{ status: "declined" }]);
  expect(existsSync(join(directory, "x"))).toBe(false);
});

test("an interruption withdraws a pending approval request", async () => {
  const { client, threadId } = await opened({ replies: [escalated("true"), replyWith("Never said.")] });
  const { id } = await startTurn(client, threadId, "Do it.");
  await client.notification(question);
  await client.request("turn/interrupt", { threadId, turnId: id });
  expect((await turnEnd(client, id)).status).toBe("interrupted");
  expect(messagesOf(client, "serverRequest/resolved")).toEqual([{ threadId, requestId: 0 }]);
});

test("a client that disconnects during an approval request has declined, and the turn continues", async () => {
  const harness = await openHarness({ replies: [escalated("true"), replyWith("Without it, then.")] });
  const server = await startServer(harness, "unix");
  const [asking, watching] = [await server.connect("asking"), await server.connect("watching")];
  const { thread } = await asking.request("thread/start", { approvalPolicy: "on-request" });
  const { id } = await startTurn(asking, thread.id, "Do it.");
  await watching.request("thread/resume", { threadId: thread.id });
  await asking.notification(question);
  await asking.close();
  expect(await turnEnd(watching, id)).toMatchObject({ status: "completed", items: [{ text: "Without it, then." }] });
  expect(notes(harness).at(-1)).toMatchObject({ decision: "decline" });
});

test("a rule that prompts asks, and what is accepted stays in the sandbox", async () => {
  const directory = outsideTmp();
  const { harness, client, threadId } = await opened({
    replies: [call("exec_command", { cmd: `touch inside.txt && touch ${directory}/outside.txt` }), replyWith("Done.")],
    files: {
      ".agentcli/rules/a.rules": 'prefix_rule(pattern=["touch"], decision="prompt", justification="look twice")\n',
    },
  });
  client.answerRequests(question, () => ({ decision: "accept" }));
  await runTurn(client, threadId, "Touch it.");
  expect(messagesOf(client, question)[0].reason).toContain("look twice");
  expect(existsSync(join(harness.repository, "inside.txt"))).toBe(true);
  expect(existsSync(join(directory, "outside.txt"))).toBe(false);
});

test("a patch in a read-only sandbox is applied when the user accepts it, and not when they decline", async () => {
  const patch = (name: string) =>
    freeform("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch\n`);
  const { harness, client, threadId } = await opened(
    { replies: [patch("yes.txt"), patch("no.txt"), replyWith("Done.")] },
    "read-only",
  );
  let asked = 0;
  client.answerRequests("item/fileChange/requestApproval", () => ({ decision: asked++ === 0 ? "accept" : "decline" }));
  await runTurn(client, threadId, "Write.");
  expect(readFileSync(join(harness.repository, "yes.txt"), "utf8")).toBe("x\n");
  expect(existsSync(join(harness.repository, "no.txt"))).toBe(false);
  expect(toolOutputs(harness.requests().at(-1)).at(-1)).toBe("rejected by user");
});

test("an escalation under the policy never is refused without a question", async () => {
  const { harness, client, threadId } = await opened({ replies: [escalated("true"), replyWith("Done.")] });
  await runTurn(client, threadId, "Do it.", { approvalPolicy: "never" });
  expect(messagesOf(client, question)).toEqual([]);
  expect(toolOutputs(harness.requests().at(-1)).at(-1)).toContain("approval policy is Never");
});

test("a rule proposed with an approval is kept with the user's own", async () => {
  const args = { cmd: "ls -a", sandbox_permissions: "require_escalated", prefix_rule: ["ls"] };
  const { harness, client, threadId } = await opened({ replies: [call("exec_command", args), replyWith("Done.")] });
  client.answerRequests(question, ({ proposedExecpolicyAmendment: rule }) => ({
    decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: rule } },
  }));
  const turn = await runTurn(client, threadId, "List it.");
  expect(completedItems(client, turn.id, "commandExecution")).toMatchObject([{ status: "completed" }]);
  expect(readFileSync(join(harness.home, "rules", "default.rules"), "utf8")).toBe(
    'prefix_rule(pattern=["ls"], decision="allow")\n',
  );
});

test("questions of the model reach the user and the answers reach the model", async () => {
  const questions = [
    { id: "color", header: "Colour", question: "Which?", options: [{ label: "red", description: "warm" }] },
  ];
  const { harness, client, threadId } = await opened({
    replies: [call("request_user_input", { questions }), replyWith("Red.")],
  });
  client.answerRequests("item/tool/requestUserInput", () => ({ answers: { color: { answers: ["red"] } } }));
  await runTurn(client, threadId, "Ask me.");
  const flags = messagesOf(client, "thread/status/changed").map(({ status }) => status.activeFlags ?? []);
  expect(flags).toContainEqual(["waitingOnUserInput"]);
  expect(JSON.parse(toolOutputs(harness.requests().at(-1)).at(-1) ?? "")).toEqual({
    answers: { color: { answers: ["red"] } },
  });
});
