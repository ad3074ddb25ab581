import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { replyWith, stall } from "@agentcli/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { admit, type Price, tokens } from "../../src/inference/estimate.ts";
import { reserve, settle } from "../../src/inference/ledger.ts";
import { leftToSpend } from "../../src/runs/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { openRunHarness } from "../runs/run-harness.ts";
import { ask, callsIn, eventsOf, json } from "./inference-harness.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

const limitTeam = ({ platform: { db } }: AgentFixture, usd: number) =>
  db
    .updateTable("teams")
    .set({ spend_limit_usd: String(usd) })
    .execute();

const spentIn = async (fixture: AgentFixture): Promise<number> =>
  (await callsIn(fixture)).reduce((total, { cost_usd }) => total + Number(cost_usd), 0);

/** The price in these tests: one dollar per million input tokens, ten per million output tokens. */
const price: Price = ({ inputTokens, outputTokens }) => (inputTokens + 10 * outputTokens) / 1_000_000;

test("a team that has reached its spend limit is refused, for models and for agents", async () => {
  const usage = { inputTokens: 0, outputTokens: 100_000 };
  const { client, fixture, requests } = await openRunHarness({ replies: [replyWith("A dollar.", { usage })] });
  await limitTeam(fixture, 1);
  expect((await ask(client, { input: "Hi" })).status).toBe(200);
  const refused = await ask(client, { input: "Hi", stream: true });
  expect([refused.status, json(refused).error.code]).toEqual([403, "spend_limit_reached"]);
  const agent = await client.send("POST", "/v1/agents", { prompt: { text: "Hi" } });
  expect(json(agent).error.code).toBe("spend_limit_reached");
  expect(requests()).toHaveLength(1);
});

test("the cost of runs counts for model calls, against the limits of both user and team", async () => {
  const usage = { inputTokens: 0, outputTokens: 100_000 };
  const { client, fixture } = await openRunHarness({ replies: [replyWith("A dollar.", { usage })] });
  const ids = await client.create({ prompt: { text: "spend" } });
  await client.stream(ids);
  await fixture.platform.db.updateTable("users").set({ spend_limit_usd: "0.9" }).execute();
  expect(json(await ask(client, { input: "Hi" })).error.code).toBe("spend_limit_reached");
});

test("a small remaining amount limits the length of the response", async () => {
  const { client, fixture, requests } = await openRunHarness({
    replies: { replies: [replyWith("Short.")], repeat: "last" },
  });
  await limitTeam(fixture, 0.01);
  await ask(client, { input: "Hi", stream: true, max_output_tokens: 50_000 });
  const [{ body } = { body: {} }] = requests();
  const { max_output_tokens: maxTokens } = body as { max_output_tokens: number };
  expect(maxTokens).toBeGreaterThan(900);
  expect(maxTokens).toBeLessThan(1_000);
  await limitTeam(fixture, 100);
  const events = eventsOf(await ask(client, { input: "Hi", stream: true }));
  expect(requests()[1]?.body).not.toHaveProperty("max_output_tokens");
  expect(events.at(-1)?.type).toBe("response.completed");
});

test("a model without a price is refused under a spend limit, and allowed without one", async () => {
  const { client, fixture } = await openRunHarness({
    replies: { replies: [replyWith("Hi.")], repeat: "last" },
    models: { models: ["other"] },
  });
  expect((await ask(client, { model: "other", input: "Hi" })).status).toBe(200);
  expect(await callsIn(fixture)).toMatchObject([{ model: "other", cost_usd: null, status: "completed" }]);
  expect(await client.getJson("/v1/inference/usage")).not.toHaveProperty("cost");
  await limitTeam(fixture, 5);
  const refused = json(await ask(client, { model: "other", input: "Hi" }));
  expect(refused.error).toMatchObject({ code: "invalid_model", message: expect.stringContaining('[prices."other"]') });
});

test("fifty calls at once spend no more than the limit", async () => {
  const provider = await greedyProvider();
  const { client, fixture } = await openRunHarness({
    replies: [],
    models: { model_providers: { scripted: { base_url: provider } } },
  });
  await limitTeam(fixture, 0.5);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) =>
      ask(client, { input: "Hi", max_output_tokens: 2_000, stream: number % 2 === 0 }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(25);
  expect(answers.filter(({ status }) => status === 403).length).toBeGreaterThan(0);
  expect(await spentIn(fixture)).toBeGreaterThan(0.49);
  expect(await spentIn(fixture)).toBeLessThanOrEqual(0.5);
});

/** Uses all tokens allowed. */
async function greedyProvider(): Promise<string> {
  const server = createServer(async (request, response) => {
    const { max_output_tokens: output_tokens } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const completed = { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens } } };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(completed)}\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test("a call in progress counts with its reserved amount", async () => {
  const { client, fixture, requests } = await openRunHarness({ replies: [stall("after-headers")] });
  await limitTeam(fixture, 1);
  const asked = ask(client, { input: "Hi", max_output_tokens: 40_000 });
  await expect.poll(() => requests().length).toBe(1);
  const [row] = await callsIn(fixture);
  expect(row).toMatchObject({ status: "open", ended_at: null });
  const { teamId } = fixture.principal;
  expect(await leftToSpend(fixture.platform.db, { teamId, userId: null })).toBeCloseTo(0.6, 3);
  asked.catch(() => {});
});

describe("for any set of concurrent calls", () => {
  const callOptions = fc.record({
    inputTokens: fc.nat(20_000),
    maxOutputTokens: fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test("reserved and spent amounts stay within the limit", async () => {
    const fixture = await openFixture();
    const { platform, principal } = fixture;
    const { db } = platform;
    const property = fc.asyncProperty(
      fc.array(callOptions, { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      async (calls, limitUsd) => {
        await db.deleteFrom("inference_calls").execute();
        await limitTeam(fixture, limitUsd);
        const execute = async ({ share, ...options }: (typeof calls)[number], number: number) => {
          const id = `resp_${number}`;
          const admitted = await reserve(db, { id, principal, model: "m", price, ...options }).then(
            (maxTokens) => ({ maxTokens }),
            () => null,
          );
          expect(await spentIn(fixture)).toBeLessThanOrEqual(limitUsd + 1e-9);
          if (!admitted || number % 3 === 0) return;
          const used = tokens(options.inputTokens, Math.floor(share * (admitted.maxTokens ?? 16_384)));
          await settle(db, id, { status: "completed", usage: used, costUsd: price(used) });
        };
        await Promise.all(calls.map(execute));
        expect(await spentIn(fixture)).toBeLessThanOrEqual(limitUsd + 1e-9);
      },
    );
    await fc.assert(property, { numRuns: Math.ceil(numRuns / 10) });
    await fixture.close();
  });

  test("a call is admitted exactly if the remaining amount covers it", () => {
    fc.assert(
      fc.property(callOptions, fc.option(fc.double({ min: 0, max: 0.5, noNaN: true })), (options, leftUsd) => {
        const admission = admit({ ...options, price, leftUsd });
        const least = price(tokens(options.inputTokens, 16)) ?? 0;
        if (admission.kind !== "admitted") {
          expect(admission.kind).toBe("spent");
          expect(leftUsd).toBeLessThan(least);
          return;
        }
        const maxTokens = admission.maxOutputTokens ?? 16_384;
        expect(maxTokens).toBeLessThanOrEqual(options.maxOutputTokens ?? 16_384);
        expect(admission.reservedUsd).toBeCloseTo(price(tokens(options.inputTokens, maxTokens)) ?? 0, 9);
        expect(admission.reservedUsd ?? 0).toBeLessThanOrEqual((leftUsd ?? Infinity) + 1e-9);
      }),
      { numRuns: numRuns * 5 },
    );
  });
});
