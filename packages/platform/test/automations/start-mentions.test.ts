// Mentions that several servers start at once, and mentions that cannot be started.
import { expect, test } from "vitest";
import type { AutomationHost } from "../../src/automations/host.ts";
import { promptAad } from "../../src/automations/inbound/mentions.ts";
import { startMentions } from "../../src/automations/inbound/start-mentions.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const start = "2026-03-02T08:00:00Z";

async function insertMention({ fixture, host }: AutomationHarness, id: string, prompt?: Buffer): Promise<void> {
  const { db, vault } = fixture.platform;
  const { teamId } = fixture.principal;
  const key = await teamKey(db, vault, teamId);
  const about = { repo_url: "https://github.com/acme/shop", kind: "issue" as const, number: 7, sender: "ada" };
  const planned = { status: "planned" as const, retry_at: host.now(), created_at: host.now() };
  const agent = { agent_id: `bc-00000000-0000-4000-8000-00000000000${id}`, is_new_agent: true };
  await db
    .insertInto("mentions")
    .values({
      ...{ id, team_id: teamId, user_id: 1, ...about, ...planned, ...agent },
      prompt: prompt ?? key.seal("fix it", promptAad(id)),
    })
    .execute();
}

/** The comments that the platform writes, instead of a host. */
function withComments(host: AutomationHost): { host: AutomationHost; comments: string[] } {
  const comments: string[] = [];
  const pullRequests = { comment: async (_: number, { body }: { body: string }) => void comments.push(body) };
  const open = (async () => ({ pullRequests })) as unknown as AutomationHost["sources"]["open"];
  return { host: { ...host, sources: { open } }, comments };
}

test("two servers that start the same mention at once answer it once", async () => {
  const harness = await openAutomationHarness(start);
  const { host, comments } = withComments(harness.host);
  await insertMention(harness, "1");
  let submitting = 0;
  const createAgent: typeof host.submit.createAgent = async (...request) => {
    submitting += 1;
    await expect.poll(() => submitting).toBe(2);
    return host.submit.createAgent(...request);
  };
  const server: AutomationHost = { ...host, submit: { ...host.submit, createAgent } };
  await Promise.all([startMentions(server), startMentions(server)]);
  expect(comments).toEqual([expect.stringContaining("Started: ")]);
});

test("a mention that cannot be read delays no other one, and is refused after five attempts", async () => {
  const harness = await openAutomationHarness(start);
  const { host, comments } = withComments(harness.host);
  await insertMention(harness, "1", Buffer.alloc(64));
  await insertMention(harness, "2");
  const statuses = async () => {
    const query = host.platform.db.selectFrom("mentions").select(["status", "attempts"]).orderBy("id");
    return (await query.execute()).map(({ status, attempts }) => `${status} ${attempts}`);
  };
  await startMentions(host);
  await startMentions(host);
  expect(await statuses()).toEqual(["planned 1", "started 0"]);
  for (const minute of [1, 2, 3, 4]) {
    harness.setClock(`2026-03-02T08:0${minute}:00Z`);
    await startMentions(host);
  }
  expect(await statuses()).toEqual(["refused 5", "started 0"]);
  expect(comments).toEqual([expect.stringContaining("Started: "), expect.stringContaining("Not started. ")]);
});
