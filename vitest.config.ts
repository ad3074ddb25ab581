import { defineConfig } from "vitest/config";

// What takes minutes runs with `npm run test:long` only.
const long = process.env.SWEEP === "full" ? [] : ["e2e/long/**"];

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "checks/**/*.test.ts", "e2e/**/*.test.ts", "python/*/run.test.ts"],
    exclude: ["**/node_modules/**", ...long],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    // A condition that holds late is no failure: two cores may be busy with something else.
    expect: { poll: { interval: 20, timeout: 30_000 } },
    hookTimeout: 120_000,
  },
});
