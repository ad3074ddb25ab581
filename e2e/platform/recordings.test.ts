import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHarness } from "@agentcli/testkit/cli";
import { type PlatformClient, type RunIds, servePlatformForTest } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const secret = "horse-battery-staple-42";

async function download(client: PlatformClient, { agentId, runId }: RunIds): Promise<string> {
  const query = new URLSearchParams({ path: `artifacts/recordings/${runId}.jsonl` });
  const { url } = await client.getJson<{ url: string }>(`/v1/agents/${agentId}/artifacts/download?${query}`);
  return (await fetch(url)).text();
}

const listed = async (client: PlatformClient, { agentId }: RunIds): Promise<string[]> => {
  const { items } = await client.getJson<{ items: { path: string }[] }>(`/v1/agents/${agentId}/artifacts`);
  return items.map(({ path }) => path);
};

test("runs of an agent with recordRuns are recorded without secrets, and agentcli replay shows them", async () => {
  const printSecret = { calls: [{ name: "exec_command", arguments: { cmd: "echo $PASS; echo $PASS | base64" } }] };
  const { client: open } = await servePlatformForTest({
    replies: {
      replies: [
        { ...printSecret, when: { bodyIncludes: "print it" } },
        { messages: ["It is printed."] },
        { messages: ["There was nothing more."] },
        { messages: ["Not recorded."] },
      ],
    },
  });
  const client = await open();
  const first = await client.create({ prompt: { text: "print it" }, envVars: { PASS: secret }, recordRuns: true });
  await client.waitForRun(first);
  const second = await client.followUp(first.agentId, { prompt: { text: "and what else?" } });
  await client.waitForRun(second);
  const other = await client.create({ prompt: { text: "go on" } });
  await client.waitForRun(other);

  expect(await client.getJson(`/v1/agents/${first.agentId}`)).toMatchObject({ recordRuns: true });
  expect(await listed(client, other)).toEqual([]);
  const names = [first, second].map(({ runId }) => `artifacts/recordings/${runId}.jsonl`);
  expect(await listed(client, first)).toEqual(expect.arrayContaining(names));

  const { run, home } = await openHarness();
  const replay = async (ids: RunIds, ...flags: string[]) => {
    const file = join(home, `${ids.runId}.jsonl`);
    const text = await download(client, ids);
    for (const form of [secret, Buffer.from(secret).toString("base64").slice(0, 20)]) expect(text).not.toContain(form);
    writeFileSync(file, text);
    return run(["replay", file, "--json", ...flags]);
  };
  const shown = await replay(first);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  const events = shown.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.at(0)).toMatchObject({ type: "thread.started" });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "item.completed",
      item: expect.objectContaining({ type: "command_execution", exit_code: 0 }),
    }),
  );
  expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  expect((await replay(first)).stdout).toBe(shown.stdout);
  const later = await replay(second);
  expect(later.code).toBe(0);
  expect(later.stdout).toContain("There was nothing more.");
  expect(later.stdout).not.toContain("It is printed.");
  expect((await replay(first, "--tools", "live")).stderr).toContain("was made on the platform");
});
