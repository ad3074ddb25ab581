// A back-test in a network namespace of its own, with runs of the practice model: what they would write is recorded, and the
// kernel counts not one packet.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { type Backtest, CreateAutomation } from "@agentcli/protocol/api";
import { temporaryRepository } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { insertAutomation } from "../../src/automations/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openGitHost } from "../../src/repositories/githost/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { testSigner } from "../harness/signer.ts";
import { newDataDirectory, usualSettings } from "../runs/run-harness.ts";

const bundled = programsOfTests();

const url = "http://127.0.0.1:1";
const { programDirectory } = usualSettings;

async function openShop({ platform, principal }: AgentFixture): Promise<string> {
  const { db, vault, settings } = platform;
  const { dataDirectory } = settings;
  const origin = await temporaryRepository({ "a.txt": "a\n" });
  const signer = testSigner(dataDirectory);
  const host = openGitHost({ db, vault, dataDirectory, signer, serverUrls: () => [url] });
  const request = { teamId: principal.teamId, name: "shop", from: origin.path };
  await host.repositories.create(request, new AbortController().signal);
  await origin.remove();
  return host.cloneUrl("shop");
}

const prompt = [
  "Create out.txt containing hello",
  "Run `curl -sS -m 5 http://192.0.2.1/ || git push origin HEAD:refs/heads/owned || true`",
  "Comment on pull request {{event.pullRequest}} with a summary",
].join("\n");

async function createAutomation({ platform, principal }: AgentFixture, shop: string): Promise<string> {
  const { db, vault } = platform;
  const key = await teamKey(db, vault, principal.teamId);
  const automation = CreateAutomation.parse({
    ...{ name: "watch", prompt: { text: prompt }, target: { type: "repo", repoUrl: shop } },
    triggers: [{ type: "github", event: "pull_request.opened", repos: [shop] }],
    tools: { commentOnPullRequest: { enabled: true } },
  });
  const owner = { teamId: principal.teamId, userId: principal.kind === "user" ? principal.userId : null, key };
  const { id } = await db.transaction().execute((tx) => insertAutomation(tx, { ...automation, ...owner }, new Date()));
  return id;
}

async function runIsolated(
  { databaseUrl, platform }: AgentFixture,
  task: { automationId: string; attempt: boolean },
): Promise<{ items: Backtest["items"]; packets: number }> {
  const program = await bundled("automations/backtest-child.ts");
  const { dataDirectory } = platform.settings;
  const child = spawn(
    "unshare",
    [
      ...["--user", "--map-root-user", "--net", "--", process.execPath, program],
      JSON.stringify({ ...task, url, databaseUrl, dataDirectory, programDirectory }),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code, `unshare ended with ${code} and the output: ${output}`).toBe(0);
  return JSON.parse(output);
}

test("a back-test with runs that comment, push and use the network sends not one packet, where a request of the same process is counted", async () => {
  const fixture = await openFixture({ dataDirectory: newDataDirectory() });
  onTestFinished(fixture.close);
  const { platform, principal } = fixture;
  const shop = await openShop(fixture);
  const automationId = await createAutomation(fixture, shop);
  const pull_request = {
    ...{ number: 7, html_url: `${shop}/pulls/7`, title: "Topic", body: "", draft: false },
    ...{ head: { ref: "topic", repo: { id: 1 } }, base: { ref: "main", repo: { id: 1 } } },
  };
  const payload = { action: "opened", repository: { html_url: shop.replace(/\.git$/, "") }, pull_request };
  await recordHostEvent(platform.vault)(platform.db, { teamId: principal.teamId, name: "pull_request", payload });
  await platform.db.updateTable("inbound_events").set({ status: "processed" }).execute();
  const { items, packets } = await runIsolated(fixture, { automationId, attempt: false });
  expect(items).toMatchObject([{ outcome: "start", runStatus: "FINISHED" }]);
  expect(items[0]?.proposals).toMatchObject([
    { tool: "comment_on_pull_request", arguments: { number: 7 } },
    { tool: "push", arguments: { patch: expect.stringContaining("+hello") } },
    { tool: "create_pull_request" },
  ]);
  expect(packets).toBe(0);
  expect((await runIsolated(fixture, { automationId, attempt: true })).packets).toBeGreaterThan(0);
}, 60_000);
