// A local agent with its inference from a real platform.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openLocalHarness, readAll } from "./local-harness.ts";
import { openPlatformFixture } from "./platform-fixture.ts";
import { summary } from "./scenario-runner.ts";

test("files change here, the model is the platform's", async () => {
  const fixture = await openPlatformFixture();
  onTestFinished(fixture.close);
  const repository = await temporaryRepository();
  onTestFinished(repository.remove);
  const { Agent } = await openLocalHarness([]);
  const connection = { backendUrl: fixture.url, apiKey: fixture.key, model: { id: "practice" } };
  const agent = await Agent.create({
    ...connection,
    local: { cwd: repository.path, sandboxOptions: { enabled: true } },
  });
  const run = await agent.send("Create hello.txt containing hi");
  const messages = summary(await readAll(run));
  expect(await run.wait()).toMatchObject({ status: "finished" });
  expect(messages).toMatchObject({ user: "Create hello.txt containing hi", lastStatus: "FINISHED" });
  expect(messages.tools).toContain("write completed");
  expect(readFileSync(join(repository.path, "hello.txt"), "utf8")).toBe("hi\n");
  const refused = await Agent.create({ ...connection, apiKey: "plt_no_such_key", local: { cwd: repository.path } });
  const wrong = await (await refused.send("Create bye.txt containing bye")).wait();
  expect(wrong).toMatchObject({ status: "error", error: { code: "auth" } });
  expect(existsSync(join(repository.path, "bye.txt"))).toBe(false);
});
