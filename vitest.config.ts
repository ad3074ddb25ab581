import { defineConfig } from "vitest/config";

// What takes minutes runs with `npm run test:long` only.
const long = process.env.SWEEP === "full" ? [] : ["e2e/*/long/**"];

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "checks/**/*.test.ts", "e2e/**/*.test.ts", "python/*/run.test.ts"],
    exclude: ["**/node_modules/**", ...long],
    pool: "forks",
    maxWorkers: 2,
    // Long timeouts: a busy machine delays a test, and must not fail it.
    testTimeout: 180_000,
    expect: { poll: { interval: 20, timeout: 120_000 } },
    hookTimeout: 240_000,
  },
});
