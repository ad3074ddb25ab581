import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { startServer } from "./client.ts";
import { runTurn } from "./turns.ts";

test("an app server with --record writes a recording of each thread with all its turns, without secrets", async () => {
  const secret = "sk-canary-0123456789abcdef";
  const harness = await openHarness({
    replies: [
      call("exec_command", { cmd: `echo ${secret}` }),
      replyWith("One."),
      replyWith("Two."),
      replyWith("Three."),
    ],
  });
  const directory = join(harness.home, "recordings");
  const env = { AGENT_API_KEY: secret };
  const server = await startServer(harness, "stdio", { args: ["--record", directory], env });
  const client = await server.connect();
  const start = async () => (await client.request("thread/start", {})).thread.id as string;
  const [first, second] = [await start(), await start()];
  await runTurn(client, first, "the first");
  await runTurn(client, second, "another thread");
  await runTurn(client, first, "and on", { model: "larger" });
  await server.end();
  expect(readdirSync(directory).sort()).toEqual([`${first}.jsonl`, `${second}.jsonl`].sort());
  const recorded = readFileSync(join(directory, `${first}.jsonl`), "utf8");
  expect(recorded).not.toContain(secret);
  const exchanges = recorded.split("\n").filter((line) => line.startsWith('{"type":"exchange"'));
  expect(exchanges).toHaveLength(3);
  const replayed = await harness.run(["replay", join(directory, `${first}.jsonl`)]);
  expect(replayed).toMatchObject({ code: 0, stdout: "Three.\n" });
  expect(replayed.stderr).toContain("One.");
});
