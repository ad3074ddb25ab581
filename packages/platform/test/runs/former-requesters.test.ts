// What users asked for before they were removed from the team: it does not begin, and its readers see why.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openClient, type PlatformClient } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { openInvitations } from "../../src/identity/invitations/index.ts";
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

/** By digests, which are not redacted. */
const digest = (value: string) => createHash("sha256").update(value).digest("hex").slice(0, 12);
const printSecrets = call("exec_command", {
  cmd: "for name in OWN TEAM; do printf '%s=%s ' $name $(printf %s \"${!name}\" | sha256sum | cut -c1-12); done",
});
const printed = (own: string) => `OWN=${digest(own)} TEAM=${digest("of-the-team")}`;

async function setSecrets({ client }: RunHarness, leaver: PlatformClient): Promise<void> {
  await leaver.send("PUT", "/v1/me/secrets/OWN", { value: "of-the-leaver" });
  await client.send("PUT", "/v1/team/secrets/TEAM", { value: "of-the-team" });
  await client.send("PATCH", "/v1/team/settings", { followUps: "all" });
}

test("a run of another user on the agent of a removed one has none of the owner's secrets, but those of the team", async () => {
  const harness = await openRunHarness({ replies: { replies: [printSecrets, replyWith("Done.")], repeat: "loop" } });
  const { client } = harness;
  const { leaver, remove } = await addLeaver(harness);
  await setSecrets(harness, leaver);
  const own = await leaver.create({ prompt: { text: "look" } });
  expect(await leaver.streamText(own)).toContain(printed("of-the-leaver"));
  const before = await client.followUp(own.agentId, { prompt: { text: "look again" } });
  expect(await client.streamText(before)).toContain(printed("of-the-leaver"));
  await remove();
  const after = await client.followUp(own.agentId, { prompt: { text: "and now" } });
  expect(await client.streamText(after)).toContain(printed(""));
});

test("who comes by a link in the place of a removed user has no secret of before in the user's agents", async () => {
  const harness = await openRunHarness({ replies: { replies: [printSecrets, replyWith("Done.")], repeat: "loop" } });
  const { client, fixture } = harness;
  const { db, principals } = fixture.platform;
  const { leaver, remove } = await addLeaver(harness);
  await setSecrets(harness, leaver);
  const own = await leaver.create({ prompt: { text: "look" } });
  expect(await leaver.streamText(own)).toContain(printed("of-the-leaver"));
  await remove();
  const invitations = openInvitations(db, () => new Date());
  const { secret } = await invitations.invite({ teamId: fixture.principal.teamId, email, role: "member" });
  await invitations.accept({ secret, proof: "link" });
  const owner = { kind: "user", email } as const;
  const { key } = await principals.createKey({ name: "new", team: "default", owner, scopes: null, expiresAt: null });
  const another = openClient(client.url, key);
  const after = await another.followUp(own.agentId, { prompt: { text: "and now" } });
  expect(await another.streamText(after)).toContain(printed(""));
});

test("an agent whose first run did not begin, because its user was removed, has none of the user's secrets later", async () => {
  const replies = [untilGo, replyWith("First."), printSecrets, replyWith("Done.")];
  const harness = await openRunHarness({ replies: { replies, repeat: "last" }, settings: { concurrentRuns: 1 } });
  const { client, requests } = harness;
  const { leaver, remove } = await addLeaver(harness);
  await setSecrets(harness, leaver);
  const first = await client.create({ prompt: { text: "be busy" } });
  await expect.poll(() => requests().length).toBe(1);
  const queued = await leaver.create({ prompt: { text: "take what you find" } });
  await remove();
  allowEnd(harness, first.agentId);
  await client.stream(queued);
  expect(await client.read(queued)).toMatchObject({ status: "ERROR", error: { code: "user_removed" } });
  const later = await client.followUp(queued.agentId, { prompt: { text: "go on" } });
  expect(await client.streamText(later)).toContain(printed(""));
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
