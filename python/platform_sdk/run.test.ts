// The Python SDK of the platform under pytest and mypy.
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { mypyCache, openSuite, type RunModule } from "../suite.ts";

const minutes = 60_000;

let run: RunModule;
beforeAll(async () => {
  run = await openSuite(fileURLToPath(new URL(".", import.meta.url)));
}, 5 * minutes);

test("the suite passes against a real platform", { timeout: 10 * minutes }, async () => {
  await run("pytest", "--timeout=120", "-p", "no:cacheprovider");
});

test("mypy --strict finds no errors", { timeout: 5 * minutes }, async () => {
  expect(await run("mypy", "--cache-dir", mypyCache("platform_sdk"))).toContain("no issues found");
});
