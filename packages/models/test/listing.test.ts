import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { providerDefaults } from "../src/index.ts";
import { listModels } from "../src/listing.ts";

const client = { clientName: "test", clientVersion: "1", random: Math.random };

/** Asks a server that answers the requests in this order. */
async function listFrom(answers: { status?: number; body: string }[], wireApi: "chat" | "anthropic" = "chat") {
  const asked: { url?: string | undefined; key: unknown }[] = [];
  const server = createServer((request, response) => {
    const { status = 200, body } = answers[Math.min(asked.length, answers.length - 1)] ?? { body: "" };
    asked.push({ url: request.url, key: request.headers["x-api-key"] ?? request.headers.authorization });
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const provider = { ...providerDefaults, id: "own", name: "Own", baseUrl, wireApi, apiKey: "secret-key-1" };
  const listing = await listModels(provider, client, new AbortController().signal).finally(close);
  return { listing, asked };
}

test("facts that a provider states are taken, in the words of each", async () => {
  const data = [
    { id: "vendor/large", context_length: 64_000, pricing: { prompt: "0.000003", completion: "0.000015" } },
    { id: "small", max_model_len: 4096 },
    { id: "models/gemini-3-pro", context_window: 500 },
    { id: "gpt-5-mini" },
    { nothing: true },
  ];
  const { listing, asked } = await listFrom([{ body: JSON.stringify({ data }) }]);
  expect(asked).toEqual([{ url: "/v1/models", key: "Bearer secret-key-1" }]);
  expect(listing).toMatchObject({
    models: [
      { id: "vendor/large", contextWindow: 64_000, price: { input: 3, output: 15 } },
      { id: "small", contextWindow: 4096, price: null },
      { id: "gemini-3-pro", contextWindow: 500 },
      { id: "gpt-5-mini", contextWindow: 272_000, price: { input: 0.25, output: 2 } },
    ],
  });
});

test("a list in several parts is read to its end", async () => {
  const first = { data: [{ id: "claude-one" }], has_more: true, last_id: "claude-one" };
  const second = { data: [{ id: "claude-two" }], has_more: false, last_id: "claude-two" };
  const { listing, asked } = await listFrom(
    [first, second].map((page) => ({ body: JSON.stringify(page) })),
    "anthropic",
  );
  expect(listing).toMatchObject({ models: [{ id: "claude-one" }, { id: "claude-two" }] });
  expect(asked.map(({ url }) => url)).toEqual(["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=claude-one"]);
  expect(asked[0]?.key).toBe("secret-key-1");
});

test("a refused key is reported without the key, and anything else is a failure in words", async () => {
  const refused = await listFrom([{ status: 401, body: '{"error": {"message": "bad key secret-key-1"}}' }]);
  expect(refused.listing).toMatchObject({ kind: "failed", code: "auth" });
  expect(JSON.stringify(refused.listing)).not.toContain("secret-key-1");
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (body) => {
      const { listing } = await listFrom([{ body }]);
      expect(["models", "failed"]).toContain(listing.kind);
    }),
    { numRuns: 30 },
  );
});
