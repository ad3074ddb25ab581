// The story of a client from before v1: create, webhook, conversation, follow-up, stop, artifacts, delete.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { V0Agent, V0Message } from "@agentcli/protocol/api";
import { eventually, temporaryDirectory } from "@agentcli/testkit";
import { openPlatformForTest, startWebhookReceiver } from "@agentcli/testkit/platform";
import { verify } from "@octokit/webhooks-methods";
import { beforeAll, expect, onTestFinished, test } from "vitest";

const sample = fileURLToPath(new URL("../../examples/sample", import.meta.url));
const secret = "forty characters that are hard to guess!";

let copy: string;
beforeAll(async () => {
  const directory = await temporaryDirectory();
  copy = join(directory.path, "sample");
  cpSync(sample, copy, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { cwd: copy });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "Start");
  return () => directory.remove();
});

async function openScenario() {
  const harness = await openPlatformForTest();
  const key = await harness.key();
  const { url } = await harness.serve({ env: { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" } });
  const { stdout } = await harness.run(["repos", "create", "sample", "--from", copy]);
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  const ask = async <Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> => {
    const headers = { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as Body };
  };
  return { ask, url, receiver, repository: stdout.trim() };
}

type Scenario = Awaited<ReturnType<typeof openScenario>>;

const status = ({ ask }: Scenario, id: string, wanted: string) =>
  eventually(async () => {
    const { body } = await ask<V0Agent>("GET", `/v0/agents/${id}`);
    expect(body.status).toBe(wanted);
    return body;
  });

const messages = async ({ ask }: Scenario, id: string) =>
  (await ask<{ messages: V0Message[] }>("GET", `/v0/agents/${id}/conversation`)).body.messages;

test("an agent of v0 fixes the sample, opens a pull request on the branch that was named, and says so to the webhook", async () => {
  const scenario = await openScenario();
  const { ask, receiver, repository, url } = scenario;
  const created = await ask<V0Agent>("POST", "/v0/agents", {
    prompt: { text: "Fix the failing test" },
    model: "default",
    source: { repository, ref: "main" },
    target: { autoCreatePr: true, branchName: "fix/paging" },
    webhook: { url: receiver.url, secret },
  });
  const { id } = created.body;
  expect(created).toMatchObject({
    status: 200,
    body: {
      name: "Fix the failing test",
      source: { repository, ref: "main" },
      target: {
        branchName: "fix/paging",
        url: `${url}/agents?id=${id}`,
        autoCreatePr: true,
        skipReviewerRequest: false,
      },
    },
  });
  const ended = await status(scenario, id, "FINISHED");
  expect(ended.target).toMatchObject({ branchName: "fix/paging", prUrl: expect.stringContaining("/pulls/1") });
  const [message] = await receiver.waitFor(1);
  expect(message?.headers).toMatchObject({
    "x-webhook-event": "statusChange",
    "x-webhook-id": expect.stringMatching(/^wh_/),
    "user-agent": "Platform-Agent-Webhook/1.0",
  });
  expect(await verify(secret, message?.body ?? "", String(message?.headers["x-webhook-signature"]))).toBe(true);
  expect(JSON.parse(message?.body ?? "")).toEqual({
    event: "statusChange",
    timestamp: expect.any(String),
    id,
    status: "FINISHED",
    source: { repository, ref: "main" },
    target: { url: ended.target.url, branchName: "fix/paging", prUrl: ended.target.prUrl },
    summary: ended.summary,
  });
  const conversation = await messages(scenario, id);
  expect(conversation[0]).toMatchObject({ type: "user_message", text: "Fix the failing test" });
  expect(conversation.at(-1)).toMatchObject({ type: "assistant_message", text: ended.summary });
  expect(new Set(conversation.map((each) => each.id)).size).toBe(conversation.length);
  const byPull = await ask<{ agents: V0Agent[] }>("GET", `/v0/agents?prUrl=${ended.target.prUrl}`);
  expect(byPull.body).toEqual({ agents: [ended] });
});

test("an agent is stopped, continues with a follow-up, leaves an artifact, and is deleted", async () => {
  const scenario = await openScenario();
  const { ask, receiver, repository } = scenario;
  const busy = { prompt: { text: "Run `sleep 50`" }, source: { repository }, webhook: { url: receiver.url } };
  const { id } = (await ask<V0Agent>("POST", "/v0/agents", busy)).body;
  await status(scenario, id, "RUNNING");
  const prompt = { text: 'Run `echo report > "$PLATFORM_ARTIFACTS_DIR/report.txt"`' };
  const refused = await ask("POST", `/v0/agents/${id}/followup`, { prompt });
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "agent_busy" } } });
  expect(await ask("POST", `/v0/agents/${id}/stop`)).toEqual({ status: 200, body: { id } });
  await status(scenario, id, "STOPPED");
  expect(await ask("POST", `/v0/agents/${id}/stop`)).toMatchObject({
    status: 409,
    body: { error: { message: `Agent ${id} is not running.` } },
  });
  expect(await ask("POST", `/v0/agents/${id}/followup`, { prompt })).toEqual({ status: 200, body: { id } });
  await status(scenario, id, "FINISHED");
  expect((await messages(scenario, id)).filter(({ type }) => type === "user_message").map(({ text }) => text)).toEqual([
    busy.prompt.text,
    prompt.text,
  ]);
  // Of the two ends only the second is delivered: v0 has no event for a stop.
  expect((await receiver.waitFor(1)).map(({ body }) => JSON.parse(body).status)).toEqual(["FINISHED"]);
  await expectReport(scenario, id);
  expect(await ask("DELETE", `/v0/agents/${id}`)).toEqual({ status: 200, body: { id } });
  expect(await ask("GET", `/v0/agents/${id}`)).toMatchObject({
    status: 404,
    body: { error: { message: `There is no agent ${id}.` } },
  });
});

async function expectReport({ ask }: Scenario, id: string): Promise<void> {
  const path = "/opt/platform/artifacts/report.txt";
  const listed = await ask("GET", `/v0/agents/${id}/artifacts`);
  expect(listed.body).toMatchObject({
    artifacts: [{ absolutePath: path, sizeBytes: 7, updatedAt: expect.any(String) }],
  });
  const link = await ask<{ url: string }>("GET", `/v0/agents/${id}/artifacts/download?path=${path}`);
  expect(await (await fetch(link.body.url)).text()).toBe("report\n");
}

test("the catalogue of v0 says whose key it is, and which models and repositories there are", async () => {
  const { ask, repository } = await openScenario();
  expect((await ask("GET", "/v0/me")).body).toEqual({
    apiKeyName: "test",
    createdAt: expect.any(String),
    userEmail: "admin@localhost",
  });
  expect((await ask("GET", "/v0/models")).body).toEqual({ models: ["practice"] });
  const repositories = [{ owner: "git", name: "sample", repository }];
  expect((await ask("GET", "/v0/repositories")).body).toEqual({ repositories });
  expect(await ask("GET", "/v0/repositories")).toMatchObject({ status: 429 });
  expect((await ask("GET", "/v1/repositories")).body).toEqual({ items: [{ url: repository }] });
});
