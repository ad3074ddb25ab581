import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, replyWith } from "@agentcli/testkit";
import type { PlatformClient } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const usage = { inputTokens: 1000, cachedInputTokens: 0, outputTokens: 100 };
const shell = (cmd: string) => call("exec_command", { cmd }, { usage });

test("an agent without a repository runs a command, writes a file and reports it", async () => {
  const patch = "*** Begin Patch\n*** Add File: note.txt\n+written here\n*** End Patch";
  const { client, dataDirectory } = await openRunHarness({
    replies: [shell("echo one two"), freeform("apply_patch", patch, { usage }), replyWith("All done.", { usage })],
  });
  const ids = await client.create({ prompt: { text: "write a note" } });
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
  const names = frames.map(({ event }) => event).filter((event) => event !== "interaction_update");
  expect(names).toEqual([
    "status",
    "status",
    ...["tool_call", "tool_call", "tool_call", "tool_call"],
    "assistant",
    "result",
    "done",
  ]);
  const calls = frames.filter(({ event }) => event === "tool_call").map(({ data }) => [data.name, data.status]);
  expect(calls).toEqual([
    ["run_terminal_cmd", "running"],
    ["run_terminal_cmd", "completed"],
    ["write", "running"],
    ["write", "completed"],
  ]);
  expect(JSON.stringify(frames)).toContain("one two\\n");
  expect(frames.at(-2)?.data).toMatchObject({ runId: ids.runId, status: "FINISHED", text: "All done." });
  const note = join(dataDirectory, "workspaces", ids.agentId, "workspace/note.txt");
  expect(readFileSync(note, "utf8")).toBe("written here\n");
});

test("usage and cost of a run are exact to the token and the cent, from the price book", async () => {
  const cached = { inputTokens: 2000, cachedInputTokens: 500, outputTokens: 50 };
  const { client } = await openRunHarness({ replies: [shell("true"), replyWith("Done.", { usage: cached })] });
  const ids = await client.create({ prompt: { text: "go" } });
  await client.stream(ids);
  const used = { inputTokens: 2500, outputTokens: 150, cacheReadTokens: 500, cacheWriteTokens: 0, totalTokens: 3150 };
  const cents = (3000 * 1 + 150 * 10) / 1_000_000 / 0.01;
  const answer = await client.getJson<{ cost: { rawCostCents: number } }>(`/v1/agents/${ids.agentId}/usage`);
  expect(answer).toMatchObject({ totalUsage: used, runs: [{ id: ids.runId, usage: used }] });
  expect(answer.cost.rawCostCents).toBeCloseTo(cents, 10);
});

test("a follow-up continues with the conversation and the files", async () => {
  const { client, requests } = await openRunHarness({
    replies: [shell("echo kept > kept.txt"), replyWith("First."), shell("cat kept.txt"), replyWith("Second.")],
  });
  const first = await client.create({ prompt: { text: "begin" } });
  await client.stream(first);
  const second = await client.followUp(first.agentId, { prompt: { text: "and now?" } });
  const frames = await client.stream(second);
  expect(JSON.stringify(frames)).toContain("kept\\n");
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Second." });
  const input = JSON.stringify(requests().at(-1)?.body);
  for (const text of ["begin", "First.", "and now?"]) expect(input).toContain(text);
});

test("an agent works in /workspace, sees nothing of the data directory, and no path of the host reaches the model", async () => {
  const { client, dataDirectory, requests } = await openRunHarness({
    replies: {
      replies: [
        shell(
          'ls "$DATA" "$DATA/workspaces" | tr "\\n" " "; cat "$DATA/kek" 2>&1; echo x > "$DATA/x"; echo x > "$DATA/workspaces/x"; pwd; echo $(ls -A /workspace); echo mine > "$HOME/mine" && cat "$HOME/mine"',
        ),
        replyWith("Looked."),
      ],
      repeat: "loop",
    },
  });
  const other = await client.create({ prompt: { text: "be there" }, envVars: { DATA: dataDirectory } });
  await client.stream(other);
  const ids = await client.create({ prompt: { text: "look around" }, envVars: { DATA: dataDirectory } });
  const frames = await client.stream(ids);
  const ran = frames.find(({ data }) => data.status === "completed")?.data.result as Result;
  // stderr is a separate pipe and may arrive earlier or later.
  for (const line of ["/workspace/workspace", ".artifacts .home workspace", "mine"])
    expect(ran.success.stdout.split("\n")).toContain(line);
  expect(ran.success.stdout).not.toContain(other.agentId);
  for (const { body } of requests()) {
    expect(JSON.stringify(body)).toContain("/workspace/workspace");
    expect(JSON.stringify(body)).not.toMatch(/workspaces.bc-/);
  }
  expect(() => readFileSync(join(dataDirectory, "x"))).toThrow("ENOENT");
  expect(() => readFileSync(join(dataDirectory, "workspaces/x"))).toThrow("ENOENT");
});

interface Result {
  success: { stdout: string };
}

test("a connection that the sandbox blocked is on the run once, without secrets", async () => {
  const secret = "10.98.76.54";
  const attempt = `for host in 10.1.2.3 10.1.2.3 $SECRET; do curl -s --noproxy '' http://$host/; done; true`;
  const { client, records } = await openRunHarness({ replies: [shell(attempt), replyWith("Tried.")] });
  const ids = await client.create({ prompt: { text: "go out" }, envVars: { SECRET: secret } });
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED" });
  const warnings = frames.filter(({ event, data }) => event === "tool_call" && data.name === "warning");
  const blocked = (host: string) => ({
    error: {
      message: `The sandbox blocked a connection: ${host}:80 is not in the egress policy (allow_all: public hosts on ports 80 and 443) (*). "*" allows names, not addresses.`,
    },
  });
  expect(warnings.map(({ data }) => data.result)).toEqual([blocked("10.1.2.3"), blocked("[REDACTED]")]);
  expect(JSON.stringify([frames, await records(ids.agentId)])).not.toContain(secret);
});

test("files in the artifacts directory are sealed, listed and can be downloaded without an API key", async () => {
  const { client, fixture } = await openRunHarness({
    replies: [
      shell('mkdir "$PLATFORM_ARTIFACTS_DIR/deep"; echo a report > "$PLATFORM_ARTIFACTS_DIR/deep/report.txt"'),
      replyWith("Made."),
    ],
  });
  const ids = await client.create({ prompt: { text: "report" } });
  await client.stream(ids);
  const { items } = await client.getJson<{ items: unknown[] }>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items).toMatchObject([{ path: "artifacts/deep/report.txt", sizeBytes: 9 }]);
  const query = "path=artifacts%2Fdeep%2Freport.txt";
  const { url } = await client.getJson<{ url: string }>(`/v1/agents/${ids.agentId}/artifacts/download?${query}`);
  expect((await fetch(url).then((answer) => answer.text())).toString()).toBe("a report\n");
  const { blob } = await fixture.platform.db.selectFrom("artifacts").select("blob").executeTakeFirstOrThrow();
  const file = join(fixture.platform.settings.dataDirectory, "artifacts", ids.agentId, blob);
  expect(readFileSync(file).includes("report")).toBe(false);
});

test("variables reach commands, but no record, frame or result contains them", async () => {
  const secret = "correct horse battery staple";
  const { client, fixture, requests } = await openRunHarness({
    replies: [
      shell('echo "it is $WORD and $OTHER"'),
      replyWith(`The word is ${secret}, I think.`, { deltas: 40, deltaDelayMs: 5 }),
    ],
  });
  const ids = await client.create({
    prompt: { text: "say it" },
    envVars: { WORD: secret, OTHER: "to be replaced" },
    runEnvVars: { OTHER: "of this run" },
  });
  const frames = await client.stream(ids);
  const text = JSON.stringify(frames);
  expect(text).toContain("it is [REDACTED] and [REDACTED]");
  expect(text).not.toContain(secret);
  expect(text).not.toContain("horse");
  const output = frames.flatMap(({ event, data }) => (event === "assistant" ? [data.text] : []));
  expect(output.length).toBeGreaterThan(1);
  expect(output.join("")).toBe("The word is [REDACTED], I think.");
  expect(await client.read(ids)).toMatchObject({ result: "The word is [REDACTED], I think." });
  expect(JSON.stringify(requests())).not.toContain(secret);
  const { rows } = await import("kysely").then(({ sql }) =>
    sql<{ text: string }>`select runs::text || agents::text as text from runs, agents`.execute(fixture.platform.db),
  );
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("hex"));
});

test("a message to an active run enters its conversation once, before the next request to the model", async () => {
  const steered = { ...replyWith("Done in French."), when: { bodyIncludes: "now in French" } };
  const { client, requests } = await openRunHarness({
    replies: { replies: [steered, shell("sleep 0.5")], repeat: "always" },
  });
  const ids = await client.create({ prompt: { text: "write" } });
  const path = `/v1/agents/${ids.agentId}/runs/${ids.runId}/messages`;
  const send = (text: string) => client.send("POST", path, { text }, { "idempotency-key": "one" });
  const [first, second] = [await send("now in French"), await send("now in French")];
  expect(first).toMatchObject({ status: 200 });
  expect(JSON.parse(second.text).id).toBe(JSON.parse(first.text).id);
  expect(await send("in German")).toMatchObject({ status: 409 });
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done in French." });
  const shown = frames.filter(({ data }) => data.type === "user-message-appended");
  expect(shown.map(({ data }) => (data.userMessage as { text: string }).text)).toEqual(["write", "now in French"]);
  expect(JSON.stringify(requests().at(-1)?.body).split("now in French")).toHaveLength(2);
  expect(await client.getJson(path)).toMatchObject({ items: [{ text: "now in French", status: "delivered" }] });
  const late = await client.post(path, { text: "too late" });
  expect(JSON.parse(late.text)).toMatchObject({ error: { code: "run_not_active" } });
  const { messages } = await client.getJson<{ messages: { text: string }[] }>(`/v1/agents/${ids.agentId}/conversation`);
  expect(messages.map(({ text }) => text)).toContain("now in French");
});

test("a fork has the conversation and the committed files of an earlier run, and leaves the original alone", async () => {
  const { client, requests, repository } = await openRunHarness({
    replies: [
      shell("echo first > step.txt"),
      replyWith("First step."),
      shell("echo second > step.txt"),
      replyWith("Second step."),
      shell("cat step.txt"),
      replyWith("Forked step."),
    ],
  });
  const url = await repository("steps", { "readme.md": "steps\n" });
  const first = await client.create({ prompt: { text: "take a step" }, repos: [{ url }] });
  await client.stream(first);
  const second = await client.followUp(first.agentId, "and another");
  await client.stream(second);

  const path = `/v1/agents/${first.agentId}/fork`;
  const preview = await client.getJson<{ files: string; repositories: { commit: string }[] }>(
    `${path}?runId=${first.runId}`,
  );
  expect(preview).toMatchObject({ runId: first.runId, messages: 2 });
  const answer = await client.post(path, { prompt: { text: "read it" }, runId: first.runId });
  const { agent, run } = JSON.parse(answer.text);
  expect(agent).toMatchObject({ forkedFrom: { agentId: first.agentId, runId: first.runId } });
  expect(await actorsOf(client, "agent.created", agent.id)).toEqual(["user:1"]);
  const frames = await client.stream({ agentId: agent.id, runId: run.id });
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Forked step." });
  expect(JSON.stringify(frames)).toContain("first\\n");
  const input = JSON.stringify(requests().at(-1)?.body);
  for (const text of ["take a step", "First step.", "forked after its last message", "read it"])
    expect(input).toContain(text);
  expect(input).not.toContain("and another");
  const conversation = await client.getJson<{ messages: { text: string }[] }>(`/v1/agents/${agent.id}/conversation`);
  expect(conversation.messages.map(({ text }) => text)).toEqual([
    "take a step",
    "First step.",
    "read it",
    "Forked step.",
  ]);
  const original = await client.getJson<{ items: unknown[] }>(`/v1/agents/${first.agentId}/runs`);
  expect(original.items).toHaveLength(2);
  const active = await client.post(path, { prompt: { text: "x" }, runId: `run-${agent.id.slice(3)}` });
  expect(active.status).toBe(404);
});

test("what an agent has pushed becomes a pull request when its owner asks for it", async () => {
  const { client, repository } = await openRunHarness({
    replies: [shell("echo first > step.txt"), replyWith("First step.")],
  });
  const url = await repository("steps", { "readme.md": "steps\n" });
  const ids = await client.create({ prompt: { text: "take a step" }, repos: [{ url }] });
  await client.stream(ids);
  const path = `/v1/agents/${ids.agentId}/pull-requests`;
  const opened = await client.post(path);
  expect(opened).toMatchObject({ status: 200, body: { branches: [{ prUrl: expect.stringMatching(/pulls\/1$/) }] } });
  expect(await actorsOf(client, "handoff.changed", ids.agentId)).toContain("user:1");
  expect(await client.post(path)).toMatchObject({ status: 409, body: { error: { code: "nothing_to_open" } } });
});

/** Of changes of a row with this id, or with one that begins with it. */
async function actorsOf(client: PlatformClient, action: string, id: string): Promise<string[]> {
  const query = new URLSearchParams({ action });
  const { items } = await client.getJson<{ items: { subject: string; actor: string }[] }>(`/v1/audit?${query}`);
  return items.filter(({ subject }) => subject.split(":")[0] === id).map(({ actor }) => actor);
}
