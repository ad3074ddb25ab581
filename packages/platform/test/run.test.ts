import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, say } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openRunBench, type RunBenchOptions } from "./run-bench.ts";

async function bench(options: RunBenchOptions) {
  const opened = await openRunBench(options);
  onTestFinished(opened.close);
  return opened;
}

const shell = (cmd: string) => call("exec_command", { cmd }, { usage: { inputTokens: 1000, outputTokens: 100 } });
const done = (text: string) => say(text, { usage: { inputTokens: 2000, cachedInputTokens: 500, outputTokens: 50 } });

test("an agent without a repository runs a command, writes a file and says so", async () => {
  const patch = "*** Begin Patch\n*** Add File: note.txt\n+written here\n*** End Patch";
  const { client, spine, host } = await bench({
    replies: [shell("echo one two"), freeform("apply_patch", patch), done("All done.")],
  });
  const ids = await client.create({ prompt: { text: "write a note" } });
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
  const names = frames.map(({ event }) => event).filter((event) => event !== "interaction_update");
  expect(names).toEqual(["status", "tool_call", "tool_call", "tool_call", "tool_call", "assistant", "result", "done"]);
  const calls = frames.filter(({ event }) => event === "tool_call").map(({ data }) => [data.name, data.status]);
  expect(calls).toEqual([
    ["run_terminal_cmd", "running"],
    ["run_terminal_cmd", "completed"],
    ["write", "running"],
    ["write", "completed"],
  ]);
  expect(JSON.stringify(frames)).toContain("one two\\n");
  expect(frames.at(-2)?.data).toMatchObject({ runId: ids.runId, status: "FINISHED", text: "All done." });
  const opened = await host.workspaces.find(ids.agentId);
  expect(readFileSync(join(opened?.root ?? "", "note.txt"), "utf8")).toBe("written here\n");
  const usage = await client.get<{ totalUsage: unknown; cost: unknown }>(`/v1/agents/${ids.agentId}/usage`);
  expect(usage).toMatchObject({
    totalUsage: { inputTokens: 1000 + 1500, outputTokens: 150, cacheReadTokens: 500 },
  });
  expect(spine.platform.settings.models.model).toBe("scripted");
});
