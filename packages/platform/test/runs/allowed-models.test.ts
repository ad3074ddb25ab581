// The models that a team allows hold on every way to one: follow-ups, automations, sub-agents, fallback.
import type { Firing } from "@agentcli/protocol/api";
import { call, fault, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const allow = async ({ client }: RunHarness, allowedModels: string[] | null) => {
  const { status } = await client.send("PATCH", "/v1/team/settings", { allowedModels });
  expect(status).toBe(200);
};

const asked = ({ requests }: RunHarness) => requests().map(({ body }) => (body as { model: string }).model);

test("follow-ups and automations use no model that the team does not allow, whatever it allowed before", async () => {
  const harness = await openRunHarness({
    replies: { replies: [replyWith("Done.")], repeat: "always" },
    models: { models: ["large"] },
  });
  const { client } = harness;
  const automation = { name: "nightly", prompt: { text: "tidy" }, triggers: [{ type: "webhook" }] };
  const large = { model: { id: "large" } };
  const { id } = (await client.post("/v1/automations", { ...automation, ...large })).body as Firing;
  const ids = await client.create({ prompt: { text: "one" }, ...large });
  await client.stream(ids);

  await allow(harness, ["scripted"]);
  const message = expect.stringMatching(/model\.id: not a model that the team may use: large\. Available: scripted\.$/);
  const refused = { status: 400, body: { error: { code: "invalid_model", message } } };
  const runs = `/v1/agents/${ids.agentId}/runs`;
  expect(await client.post(runs, { prompt: { text: "two" }, ...large })).toMatchObject(refused);
  expect(await client.post("/v1/automations", { ...automation, name: "other", ...large })).toMatchObject(refused);
  expect(await client.send("PATCH", `/v1/automations/${id}`, large)).toMatchObject(refused);
  expect((await client.post(`/v1/automations/${id}/run`)).body).toMatchObject({ status: "failed", reason: message });

  const next = await client.followUp(ids.agentId, { prompt: { text: "three" } });
  await client.stream(next);
  expect(await client.read(next)).toMatchObject({
    status: "ERROR",
    error: { code: "refused", message: expect.stringContaining("may not use the model large of scripted") },
  });
  expect(asked(harness)).toEqual(["large"]);
  const other = await client.followUp(ids.agentId, { prompt: { text: "four" }, model: { id: "scripted" } });
  await client.stream(other);
  expect(await client.read(other)).toMatchObject({ status: "FINISHED" });
  expect(asked(harness)).toEqual(["large", "scripted"]);
});

test("a sub-agent cannot name a model that the team may not use, nor can its role in a repository", async () => {
  const harness = await openRunHarness({
    replies: {
      replies: [
        call("spawn_agent", { message: "count the files", model: "large" }),
        call("spawn_agent", { message: "count the files", agent_type: "counter" }),
        call("wait_agent", { targets: ["counter"] }),
        replyWith("Not counted."),
      ],
      repeat: "last",
    },
    models: { models: ["large"] },
  });
  await allow(harness, ["scripted"]);
  const { client, repository } = harness;
  const role = "---\nname: counter\ndescription: Counts.\nmodel: large\n---\nYou count.\n";
  const url = await repository("many", { ".platform/agents/counter.md": role });
  const ids = await client.create({ prompt: { text: "how many?" }, repos: [{ url }] });
  await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED" });
  expect(new Set(asked(harness))).toEqual(new Set(["scripted"]));
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain("may not use the model large");
});

test("a fallback chain asks only models that the team may use", async () => {
  const overloaded = { ...fault(503), when: { bodyIncludes: '"model":"scripted"' } };
  const tired = { ...fault(503), when: { bodyIncludes: '"model":"second"' } };
  const harness = await openRunHarness({
    replies: { replies: [overloaded, tired, replyWith("From the last one.")], repeat: "always" },
    models: { models: ["second", "third"], model_fallback: ["second", "third"] },
    providers: {},
  });
  const { client } = harness;
  const ask = async () => {
    const ids = await client.create({ prompt: { text: "one" } });
    await client.stream(ids);
    return client.read(ids);
  };
  await allow(harness, ["scripted", "second"]);
  expect(await ask()).toMatchObject({ status: "ERROR", error: { code: "overloaded" } });
  expect(new Set(asked(harness))).toEqual(new Set(["scripted", "second"]));
  await allow(harness, ["scripted", "third"]);
  expect(await ask()).toMatchObject({ status: "FINISHED", result: "From the last one." });
  await allow(harness, null);
  expect(await ask()).toMatchObject({ status: "FINISHED", result: "From the last one." });
});
