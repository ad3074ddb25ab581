// What users asked for before they were removed from the team: it does not begin, and its readers see why.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const email = "leaver@example.com";
const untilGo = call("exec_command", { cmd: "while [ ! -e go ]; do sleep 0.05; done" });

async function addLeaver({ fixture, client }: RunHarness) {
  const { db, vault, principals } = fixture.platform;
  const administration = openAdministration(db, vault);
  await administration.createUser({ email, team: "default", role: "member" });
  const owner = { kind: "user", email } as const;
  const { key } = await principals.createKey({ name: "own", team: "default", owner, scopes: null, expiresAt: null });
  return { leaver: openClient(client.url, key), remove: () => administration.removeUser({ email }) };
}

const allowEnd = ({ dataDirectory }: RunHarness, agentId: string) =>
  writeFileSync(join(dataDirectory, "workspaces", agentId, "workspace/go"), "");

test("a run that waits for a server does not begin once its user was removed, and says so", async () => {
  const harness = await openRunHarness({
    replies: { replies: [untilGo, replyWith("First.")], repeat: "last" },
    settings: { concurrentRuns: 1 },
  });
  const { client, requests } = harness;
  const { leaver, remove } = await addLeaver(harness);
  const first = await client.create({ prompt: { text: "be busy" } });
  await expect.poll(() => requests().length).toBe(1);
  const queued = await leaver.create({ prompt: { text: "take what you find" } });
  await remove();
  allowEnd(harness, first.agentId);
  await client.stream(first);
  await client.stream(queued);
  expect(await client.read(queued)).toMatchObject({
    status: "ERROR",
    error: { code: "user_removed", message: expect.stringContaining("not in the team any more") },
  });
  expect(JSON.stringify(requests())).not.toContain("take what you find");
});

test("a message to an active run does not enter it once its user was removed", async () => {
  const harness = await openRunHarness({ replies: { replies: [untilGo, replyWith("Done.")], repeat: "last" } });
  const { client, requests } = harness;
  const { leaver, remove } = await addLeaver(harness);
  const ids = await leaver.create({ prompt: { text: "begin" } });
  await expect.poll(() => requests().length).toBe(1);
  const path = `/v1/agents/${ids.agentId}/runs/${ids.runId}/messages`;
  expect(await leaver.post(path, { text: "take what you find" })).toMatchObject({ status: 200 });
  await remove();
  allowEnd(harness, ids.agentId);
  await client.stream(ids);
  expect(JSON.stringify(requests())).not.toContain("take what you find");
  expect(await client.getJson(path)).toMatchObject({ items: [{ status: "undelivered" }] });
});
