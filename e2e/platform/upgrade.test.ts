// A data directory that version 0.1.0 wrote, with its embedded database, is used by this version. It has one agent, whose run
// fixed the sample repository and opened a pull request, a secret of the team, and an API key.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { projectRoot } from "@agentcli/testkit";
import { openClient, openPlatformForTest } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const fixtures = join(projectRoot, "e2e/platform/fixtures");
const { key, agent, run } = JSON.parse(readFileSync(join(fixtures, "data-0.1.0.json"), "utf8"));

test("an upgrade, in another place, keeps agents, their files, keys, secrets, pull requests and the audit log", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  mkdirSync(harness.data, { recursive: true, mode: 0o700 });
  const archive = brotliDecompressSync(readFileSync(join(fixtures, "data-0.1.0.tar.br")));
  execFileSync("tar", ["-xf", "-", "--no-same-owner", "-C", harness.data], { input: archive });

  const { url } = await harness.serve();
  const client = openClient(url, key);
  const pull = "/git/sample/pulls/1";
  expect(await client.getJson(`/v1/agents/${agent}`)).toMatchObject({ name: "Fix the failing test", status: "IDLE" });
  expect(await client.read({ agentId: agent, runId: run })).toMatchObject({
    status: "FINISHED",
    git: { branches: [{ prUrl: expect.stringMatching(new RegExp(`${pull}$`)) }] },
  });
  expect(await client.getJson(pull)).toMatchObject({ title: expect.any(String), base: "main" });
  expect((await harness.run(["audit", "verify"])).stdout).toMatch(/^whole/);

  // The files of the agent in its next run, and the value of the secret in a new agent.
  const listed = await client.streamText(await client.followUp(agent, "run git log --oneline && ls src"));
  expect(listed).toContain("paging.js");
  const secret = await client.streamText(await client.create("run echo $TOKEN | rev"));
  expect(secret).toContain("sedargpu-hguorht-tpek");
});
