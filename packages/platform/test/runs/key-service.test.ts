// Runs and requests while the service that keeps the key-encryption key does not do its work.
import { eventually, replyWith, startModelServer } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/serve.ts";
import { openSubjects } from "../../src/subjects.ts";
import { openAws } from "../foundation/key-encryption/services.ts";
import { openFixture } from "../harness/fixture.ts";
import { newDataDirectory, scriptedModel, usualSettings } from "./run-harness.ts";

test("a run waits while the service of the key refuses, requests are answered 503 without detail, and both go on afterwards", async () => {
  const { fake, kms, variables } = await openAws();
  onTestFinished(fake.close);
  const model = await startModelServer({ replies: [replyWith("Done.")], repeat: "loop" });
  onTestFinished(() => model.close());
  const fixture = await openFixture({
    ...usualSettings,
    ...{ dataDirectory: newDataDirectory(), models: scriptedModel(model.url), leaseMs: 300 },
    ...{ kms: { ...kms, cacheMs: 0 }, variables: { PATH: process.env.PATH, ...variables } },
  });
  onTestFinished(fixture.close);
  const { agentId, runId } = await fixture.newAgent("wait for the key");
  fake.refuse("Decrypt");
  const server = await serve(fixture.platform, openSubjects);
  onTestFinished(server.stop);
  const client = openClient(server.url, fixture.key);

  const run = fixture.platform.db.selectFrom("runs").select(["lease_epoch", "status"]).where("id", "=", runId);
  // Each attempt is two of them. Five claims without progress would end the run, if these were counted.
  await eventually(async () => (await run.executeTakeFirstOrThrow()).lease_epoch >= 14);
  expect((await run.executeTakeFirstOrThrow()).status).toBe("CREATING");
  const refused = await client.send("GET", `/v1/agents/${agentId}`);
  expect(refused.status).toBe(503);
  expect(refused.text).toMatch(/"code":"unavailable","message":"key_service_unavailable: /);
  expect(refused.text).not.toContain(kms.key);

  fake.refuse(null);
  expect(JSON.stringify(await client.stream({ agentId, runId }))).toContain("Done.");
});
