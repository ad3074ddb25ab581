import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { excerptFile, excerptOf, provideDescription } from "../../../scripts/github-description.mjs";
import { type FakeGithub, startGithub } from "../src/github/index.ts";

let fake: FakeGithub;
let token: string;

beforeAll(async () => {
  fake = await startGithub();
  await fake.addRepository("acme/shop", { collaborators: ["ada"] });
  token = fake.addToken("ada");
});
afterAll(() => fake.close());

const ask = async (method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(`${fake.apiUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
};

test("a request that the official description does not allow is refused and recorded", async () => {
  const cases: [string, string, object, RegExp][] = [
    ["POST", "/repos/acme/shop/pulls", { title: "T", head: "a", base: "b", draft: "yes" }, /draft.*must be boolean/],
    ["POST", "/repos/acme/shop/pulls", { title: "T", head: "a" }, /must have required property 'base'/],
    ["POST", "/repos/acme/shop/pulls/1/reviews", { event: "FINE" }, /must be equal to one of the allowed values/],
    ["POST", "/repos/acme/shop/pull", {}, /is not in the description/],
  ];
  for (const [method, path, body, complaint] of cases) {
    fake.violations.length = 0;
    expect((await ask(method, path, body)).status).toBeGreaterThanOrEqual(404);
    expect(fake.violations).toEqual([expect.stringMatching(complaint)]);
  }
  fake.violations.length = 0;
});

test("an error by the rules of GitHub is not a violation", async () => {
  const answer = await ask("POST", "/repos/acme/shop/pulls", { title: "T", head: "none", base: "main" });
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ field: "head", code: "invalid" }] } });
  expect(await ask("GET", "/repos/acme/other/pulls")).toMatchObject({ status: 404 });
  expect(fake.violations).toEqual([]);
});

test("the committed excerpt is what the pinned description says", () => {
  const kept = JSON.parse(readFileSync(excerptFile, "utf8"));
  // The whole is fetched, so only the long run looks; that it is an excerpt of one version can always be seen.
  expect(kept.info.version).toMatch(/^\d+\.\d+\.\d+$/);
  if (process.env.SWEEP === "full")
    expect(kept).toEqual(excerptOf(JSON.parse(readFileSync(provideDescription(), "utf8"))));
});
