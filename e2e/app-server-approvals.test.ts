// What needs a person's consent, asked of the client that started the turn.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, type Reply, say } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "./app-server-client.ts";
import { completedItems, messagesOf, runTurn, startTurn, turnEnd } from "./app-server-turns.ts";
import { type Desk, type DeskOptions, desk, toolOutputs } from "./harness.ts";

const question = "item/commandExecution/requestApproval";

async function opened(options: DeskOptions, sandbox = "workspace-write") {
  const at = await desk(options);
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", { sandbox, approvalPolicy: "on-request" });
  return { at, server, client, threadId: thread.id as string };
}

const escalated = (cmd: string): Reply =>
  call("exec_command", { cmd, sandbox_permissions: "require_escalated", justification: "please" });

/** Of /tmp every sandbox has its own. */
function outsideTmp(): string {
  const directory = mkdtempSync("/var/tmp/agentcli-test-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const notes = (at: Desk) =>
  at
    .records()
    .filter(({ record }) => record.type === "noted" && record.kind === "approval")
    .map(({ record }) => record.data as Record<string, unknown>);

test("what is accepted for the session is asked once, and both answers are in the log", async () => {
  const { at, client, threadId } = await opened({ replies: [escalated("true"), escalated("true"), say("Done.")] });
  client.answer(question, () => ({ decision: "acceptForSession" }));
  await runTurn(client, threadId, "Do it twice.");
  expect(messagesOf(client, question)).toMatchObject([
    { command: "/bin/bash -lc true", cwd: at.repository, reason: "please", itemId: "call-4.0" },
  ]);
  expect(notes(at)).toMatchObject([
    { asked: true, callId: "4.0", args: { cmd: "true" } },
    { callId: "4.0", decision: "acceptForSession", by: "user", outside: true },
    { decision: "accept", by: "session", outside: true },
  ]);
});

test("cancel interrupts the turn, and the command never ran", async () => {
  const place = outsideTmp();
  const { client, threadId } = await opened({ replies: [escalated(`touch ${place}/x`), say("Never said.")] });
  client.answer(question, () => ({ decision: "cancel" }));
  const turn = await runTurn(client, threadId, "Do it.");
  expect(turn.status).toBe("interrupted");
  expect(completedItems(client, turn.id, "commandExecution")).toMatchObject([{ status: "declined" }]);
  expect(existsSync(join(place, "x"))).toBe(false);
});

test("an interruption while a person is asked withdraws the question", async () => {
  const { client, threadId } = await opened({ replies: [escalated("true"), say("Never said.")] });
  const { id } = await startTurn(client, threadId, "Do it.");
  await client.told(question);
  await client.request("turn/interrupt", { threadId, turnId: id });
  expect((await turnEnd(client, id)).status).toBe("interrupted");
  expect(messagesOf(client, "serverRequest/resolved")).toEqual([{ threadId, requestId: 0 }]);
});

test("a client that goes away while it is asked has declined, and the turn goes on", async () => {
  const at = await desk({ replies: [escalated("true"), say("Without it, then.")] });
  const server = await startServer(at, "unix");
  const [asking, watching] = [await server.connect("asking"), await server.connect("watching")];
  const { thread } = await asking.request("thread/start", { approvalPolicy: "on-request" });
  const { id } = await startTurn(asking, thread.id, "Do it.");
  await watching.request("thread/resume", { threadId: thread.id });
  await asking.told(question);
  await asking.close();
  expect(await turnEnd(watching, id)).toMatchObject({ status: "completed", items: [{ text: "Without it, then." }] });
  expect(notes(at).at(-1)).toMatchObject({ decision: "decline" });
});

test("a rule that prompts asks, and what is accepted stays in the sandbox", async () => {
  const place = outsideTmp();
  const { at, client, threadId } = await opened({
    replies: [call("exec_command", { cmd: `touch inside.txt && touch ${place}/outside.txt` }), say("Done.")],
    files: {
      ".agentcli/rules/a.rules": 'prefix_rule(pattern=["touch"], decision="prompt", justification="look twice")\n',
    },
  });
  client.answer(question, () => ({ decision: "accept" }));
  await runTurn(client, threadId, "Touch it.");
  expect(messagesOf(client, question)[0].reason).toContain("look twice");
  expect(existsSync(join(at.repository, "inside.txt"))).toBe(true);
  expect(existsSync(join(place, "outside.txt"))).toBe(false);
});

test("a patch in a read-only sandbox is made when a person accepts it, and not when they decline", async () => {
  const patch = (name: string) =>
    freeform("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch\n`);
  const { at, client, threadId } = await opened(
    { replies: [patch("yes.txt"), patch("no.txt"), say("Done.")] },
    "read-only",
  );
  let asked = 0;
  client.answer("item/fileChange/requestApproval", () => ({ decision: asked++ === 0 ? "accept" : "decline" }));
  await runTurn(client, threadId, "Write.");
  expect(readFileSync(join(at.repository, "yes.txt"), "utf8")).toBe("x\n");
  expect(existsSync(join(at.repository, "no.txt"))).toBe(false);
  expect(toolOutputs(at.requests().at(-1)).at(-1)).toBe("rejected by user");
});

test("an escalation under the policy never is refused without a question", async () => {
  const { at, client, threadId } = await opened({ replies: [escalated("true"), say("Done.")] });
  await runTurn(client, threadId, "Do it.", { approvalPolicy: "never" });
  expect(messagesOf(client, question)).toEqual([]);
  expect(toolOutputs(at.requests().at(-1)).at(-1)).toContain("approval policy is Never");
});

test("a rule proposed with an approval is kept with the user's own", async () => {
  const args = { cmd: "ls -a", sandbox_permissions: "require_escalated", prefix_rule: ["ls"] };
  const { at, client, threadId } = await opened({ replies: [call("exec_command", args), say("Done.")] });
  client.answer(question, ({ proposedExecpolicyAmendment: rule }) => ({
    decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: rule } },
  }));
  const turn = await runTurn(client, threadId, "List it.");
  expect(completedItems(client, turn.id, "commandExecution")).toMatchObject([{ status: "completed" }]);
  expect(readFileSync(join(at.home, "rules", "default.rules"), "utf8")).toBe(
    'prefix_rule(pattern=["ls"], decision="allow")\n',
  );
});

test("questions of the model reach the person and the answers reach the model", async () => {
  const questions = [
    { id: "color", header: "Colour", question: "Which?", options: [{ label: "red", description: "warm" }] },
  ];
  const { at, client, threadId } = await opened({ replies: [call("request_user_input", { questions }), say("Red.")] });
  client.answer("item/tool/requestUserInput", () => ({ answers: { color: { answers: ["red"] } } }));
  await runTurn(client, threadId, "Ask me.");
  const flags = messagesOf(client, "thread/status/changed").map(({ status }) => status.activeFlags ?? []);
  expect(flags).toContainEqual(["waitingOnUserInput"]);
  expect(JSON.parse(toolOutputs(at.requests().at(-1)).at(-1) ?? "")).toEqual({
    answers: { color: { answers: ["red"] } },
  });
});
