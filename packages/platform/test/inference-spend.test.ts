import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { say, stall } from "@agentcli/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { admit, type Price, tokens } from "../src/inference/estimate.ts";
import { reserve, settle } from "../src/inference/ledger.ts";
import { leftToSpend } from "../src/runs/index.ts";
import { ask, callsIn, eventsOf, json } from "./inference-bench.ts";
import { openRunBench } from "./run-bench.ts";
import { openSpine, type Spine } from "./spine.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

const limitTeam = ({ platform: { db } }: Spine, usd: number) =>
  db
    .updateTable("teams")
    .set({ spend_limit_usd: String(usd) })
    .execute();

const spentIn = async (spine: Spine): Promise<number> =>
  (await callsIn(spine)).reduce((total, { cost_usd }) => total + Number(cost_usd), 0);

/** The price of the bench: a dollar for a million tokens of input, ten for output. */
const price: Price = ({ inputTokens, outputTokens }) => (inputTokens + 10 * outputTokens) / 1_000_000;

test("a team that has spent all it may is refused, for models and for agents alike", async () => {
  const usage = { inputTokens: 0, outputTokens: 100_000 };
  const { client, spine, requests } = await openRunBench({ replies: [say("A dollar.", { usage })] });
  await limitTeam(spine, 1);
  expect((await ask(client, { input: "Hi" })).status).toBe(200);
  const refused = await ask(client, { input: "Hi", stream: true });
  expect([refused.status, json(refused).error.code]).toEqual([403, "spend_limit_reached"]);
  const agent = await client.send("POST", "/v1/agents", { prompt: { text: "Hi" } });
  expect(json(agent).error.code).toBe("spend_limit_reached");
  expect(requests()).toHaveLength(1);
});

test("what runs have cost counts for models, and the limit of the user as well as the team's", async () => {
  const usage = { inputTokens: 0, outputTokens: 100_000 };
  const { client, spine } = await openRunBench({ replies: [say("A dollar.", { usage })] });
  const ids = await client.create({ prompt: { text: "spend" } });
  await client.stream(ids);
  await spine.platform.db.updateTable("users").set({ spend_limit_usd: "0.9" }).execute();
  expect(json(await ask(client, { input: "Hi" })).error.code).toBe("spend_limit_reached");
});

test("where little is left, the answer may be as long as that pays for", async () => {
  const { client, spine, requests } = await openRunBench({
    replies: { replies: [say("Short.")], repeat: "last" },
  });
  await limitTeam(spine, 0.01);
  await ask(client, { input: "Hi", stream: true, max_output_tokens: 50_000 });
  const [{ body } = { body: {} }] = requests();
  const { max_output_tokens: most } = body as { max_output_tokens: number };
  expect(most).toBeGreaterThan(900);
  expect(most).toBeLessThan(1_000);
  await limitTeam(spine, 100);
  const events = eventsOf(await ask(client, { input: "Hi", stream: true }));
  expect(requests()[1]?.body).not.toHaveProperty("max_output_tokens");
  expect(events.at(-1)?.type).toBe("response.completed");
});

test("a model without a price is refused where a limit holds, and free to use where none does", async () => {
  const { client, spine } = await openRunBench({
    replies: { replies: [say("Hi.")], repeat: "last" },
    models: { models: ["other"] },
  });
  expect((await ask(client, { model: "other", input: "Hi" })).status).toBe(200);
  expect(await callsIn(spine)).toMatchObject([{ model: "other", cost_usd: null, status: "completed" }]);
  expect(await client.get("/v1/inference/usage")).not.toHaveProperty("cost");
  await limitTeam(spine, 5);
  const refused = json(await ask(client, { model: "other", input: "Hi" }));
  expect(refused.error).toMatchObject({ code: "invalid_model", message: expect.stringContaining("[prices]") });
});

test("fifty calls at once spend no more than the limit", { timeout: 60_000 }, async () => {
  const provider = await greedyProvider();
  const { client, spine } = await openRunBench({
    replies: [],
    models: { model_providers: { scripted: { base_url: provider } } },
  });
  await limitTeam(spine, 0.5);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) =>
      ask(client, { input: "Hi", max_output_tokens: 2_000, stream: number % 2 === 0 }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(25);
  expect(answers.filter(({ status }) => status === 403).length).toBeGreaterThan(0);
  expect(await spentIn(spine)).toBeGreaterThan(0.49);
  expect(await spentIn(spine)).toBeLessThanOrEqual(0.5);
});

/** Uses every token that it may. */
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

test("a call that is under way counts with what is reserved for it", async () => {
  const { client, spine, requests } = await openRunBench({ replies: [stall("after-headers")] });
  await limitTeam(spine, 1);
  const asked = ask(client, { input: "Hi", max_output_tokens: 40_000 });
  await expect.poll(() => requests().length).toBe(1);
  const [row] = await callsIn(spine);
  expect(row).toMatchObject({ status: "open", ended_at: null });
  const { teamId } = spine.principal;
  expect(await leftToSpend(spine.platform.db, { teamId, userId: null })).toBeCloseTo(0.6, 3);
  asked.catch(() => {});
});

describe("whatever is asked for at once", () => {
  const wish = fc.record({
    inputTokens: fc.nat(20_000),
    maxOutputTokens: fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test("what is reserved and what was spent stay within the limit", { timeout: 120_000 }, async () => {
    const spine = await openSpine();
    const { platform, principal } = spine;
    const { db } = platform;
    const property = fc.asyncProperty(
      fc.array(wish, { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      async (wishes, limitUsd) => {
        await db.deleteFrom("inference_calls").execute();
        await limitTeam(spine, limitUsd);
        const carryOut = async ({ share, ...wished }: (typeof wishes)[number], number: number) => {
          const id = `resp_${number}`;
          const admitted = await reserve(db, { id, principal, model: "m", price, ...wished }).then(
            (most) => ({ most }),
            () => null,
          );
          expect(await spentIn(spine)).toBeLessThanOrEqual(limitUsd + 1e-9);
          if (!admitted || number % 3 === 0) return;
          const used = tokens(wished.inputTokens, Math.floor(share * (admitted.most ?? 16_384)));
          await settle(db, id, { status: "completed", usage: used, costUsd: price(used) });
        };
        await Promise.all(wishes.map(carryOut));
        expect(await spentIn(spine)).toBeLessThanOrEqual(limitUsd + 1e-9);
      },
    );
    await fc.assert(property, { numRuns: Math.ceil(numRuns / 10) });
    await spine.close();
  });

  test("a call is admitted exactly where something is left that pays for it", () => {
    fc.assert(
      fc.property(wish, fc.option(fc.double({ min: 0, max: 0.5, noNaN: true })), (wished, leftUsd) => {
        const admission = admit({ ...wished, price, leftUsd });
        const least = price(tokens(wished.inputTokens, 16)) ?? 0;
        if (admission.kind !== "admitted") {
          expect(admission.kind).toBe("spent");
          expect(leftUsd).toBeLessThan(least);
          return;
        }
        const most = admission.maxOutputTokens ?? 16_384;
        expect(most).toBeLessThanOrEqual(wished.maxOutputTokens ?? 16_384);
        expect(admission.reservedUsd).toBeCloseTo(price(tokens(wished.inputTokens, most)) ?? 0, 9);
        expect(admission.reservedUsd ?? 0).toBeLessThanOrEqual((leftUsd ?? Infinity) + 1e-9);
      }),
      { numRuns: numRuns * 5 },
    );
  });
});
