import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openRunBench as bench } from "./run-bench.ts";

const usage = { inputTokens: 1000, cachedInputTokens: 0, outputTokens: 100 };
const shell = (cmd: string) => call("exec_command", { cmd }, { usage });

test("an agent without a repository runs a command, writes a file and says so", async () => {
  const patch = "*** Begin Patch\n*** Add File: note.txt\n+written here\n*** End Patch";
  const { client, dataDirectory } = await bench({
    replies: [shell("echo one two"), freeform("apply_patch", patch, { usage }), say("All done.", { usage })],
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

test("what a run used and cost is known to the token and the cent, from the price book", async () => {
  const cached = { inputTokens: 2000, cachedInputTokens: 500, outputTokens: 50 };
  const { client } = await bench({ replies: [shell("true"), say("Done.", { usage: cached })] });
  const ids = await client.create({ prompt: { text: "go" } });
  await client.stream(ids);
  const used = { inputTokens: 2500, outputTokens: 150, cacheReadTokens: 500, cacheWriteTokens: 0, totalTokens: 3150 };
  const cents = (3000 * 1 + 150 * 10) / 1_000_000 / 0.01;
  const answer = await client.get<{ cost: { rawCostCents: number } }>(`/v1/agents/${ids.agentId}/usage`);
  expect(answer).toMatchObject({ totalUsage: used, runs: [{ id: ids.runId, usage: used }] });
  expect(answer.cost.rawCostCents).toBeCloseTo(cents, 10);
});

test("a follow-up keeps conversation and files", async () => {
  const { client, requests } = await bench({
    replies: [shell("echo kept > kept.txt"), say("First."), shell("cat kept.txt"), say("Second.")],
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

test("nothing of the data directory can be seen or written but what is the agent's own", async () => {
  const { client, dataDirectory } = await bench({
    replies: {
      replies: [
        shell(
          'ls "$DATA" "$DATA/workspaces" | tr "\\n" " "; cat "$DATA/kek" 2>&1; echo x > "$DATA/x"; echo x > "$DATA/workspaces/x"; echo mine > "$HOME/mine" && cat "$HOME/mine"',
        ),
        say("Looked."),
      ],
      repeat: "loop",
    },
  });
  const other = await client.create({ prompt: { text: "be there" }, envVars: { DATA: dataDirectory } });
  await client.stream(other);
  const ids = await client.create({ prompt: { text: "look around" }, envVars: { DATA: dataDirectory } });
  const frames = await client.stream(ids);
  const ran = frames.find(({ data }) => data.status === "completed")?.data.result as Result;
  expect(ran.success.stdout).toContain(ids.agentId);
  expect(ran.success.stdout).not.toContain(other.agentId);
  expect(ran.success.stdout).not.toContain("artifacts");
  // What went wrong comes through a pipe of its own, and may overtake it or not.
  expect(ran.success.stdout).toContain("mine\n");
  expect(() => readFileSync(join(dataDirectory, "x"))).toThrow("ENOENT");
  expect(() => readFileSync(join(dataDirectory, "workspaces/x"))).toThrow("ENOENT");
});

interface Result {
  success: { stdout: string };
}

test("what is left in the directory for artifacts is sealed, listed and can be downloaded without a key", async () => {
  const { client, spine } = await bench({
    replies: [
      shell('mkdir "$PLATFORM_ARTIFACTS_DIR/deep"; echo a report > "$PLATFORM_ARTIFACTS_DIR/deep/report.txt"'),
      say("Made."),
    ],
  });
  const ids = await client.create({ prompt: { text: "report" } });
  await client.stream(ids);
  const { items } = await client.get<{ items: unknown[] }>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items).toMatchObject([{ path: "artifacts/deep/report.txt", sizeBytes: 9 }]);
  const query = "path=artifacts%2Fdeep%2Freport.txt";
  const { url } = await client.get<{ url: string }>(`/v1/agents/${ids.agentId}/artifacts/download?${query}`);
  expect((await fetch(url).then((answer) => answer.text())).toString()).toBe("a report\n");
  const { blob } = await spine.platform.db.selectFrom("artifacts").select("blob").executeTakeFirstOrThrow();
  const file = join(spine.platform.settings.dataDirectory, "artifacts", ids.agentId, blob);
  expect(readFileSync(file).includes("report")).toBe(false);
});

test("variables reach commands, and are in no record, frame or result", async () => {
  const secret = "correct horse battery staple";
  const { client, spine, requests } = await bench({
    replies: [
      shell('echo "it is $WORD and $OTHER"'),
      say(`The word is ${secret}, I think.`, { deltas: 40, deltaDelayMs: 5 }),
    ],
  });
  const ids = await client.create({
    prompt: { text: "say it" },
    envVars: { WORD: secret, OTHER: "to be replaced" },
    runEnvVars: { OTHER: "of this run" },
  });
  const frames = await client.stream(ids);
  const text = JSON.stringify(frames);
  expect(text).toContain("it is [redacted WORD] and [redacted OTHER]");
  expect(text).not.toContain(secret);
  expect(text).not.toContain("horse");
  const said = frames.flatMap(({ event, data }) => (event === "assistant" ? [data.text] : []));
  expect(said.length).toBeGreaterThan(1);
  expect(said.join("")).toBe("The word is [redacted WORD], I think.");
  expect(await client.read(ids)).toMatchObject({ result: "The word is [redacted WORD], I think." });
  expect(JSON.stringify(requests())).not.toContain(secret);
  const { rows } = await import("kysely").then(({ sql }) =>
    sql<{ text: string }>`select runs::text || agents::text as text from runs, agents`.execute(spine.platform.db),
  );
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("hex"));
});
