import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

// What takes minutes runs with `npm run test:long` only.
const long = process.env.SWEEP === "full" ? [] : ["e2e/*/long/**", "packages/*/test/**/long/**"];

/**
 * Their test files leave nothing behind in the process, so that one process runs many of them: for most of these files
 * the start of a process and the import of the sources took longer than the tests.
 */
const sharing = ["command-line", "engine", "models", "project", "surfaces"].map(
  (name) => `packages/${name}/test/**/*.test.ts`,
);
const include = ["packages/*/test/**/*.test.ts", "checks/**/*.test.ts", "e2e/**/*.test.ts", "python/*/run.test.ts"];
const exclude = ["**/node_modules/**", ...long];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "own process", include, exclude: [...exclude, ...sharing] } },
      { extends: true, test: { name: "shared process", include: sharing, exclude, isolate: false } },
    ],
    pool: "forks",
    // For tests that set up this repository as its users do: it is built, and others run what was built.
    env: { AGENTCLI_BUILT: import.meta.dirname },
    // On two processors: with three, tests waited for timers, servers and other processes for a quarter of the time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Long timeouts: a busy machine delays a test, and must not fail it.
    testTimeout: 300_000,
    expect: { poll: { interval: 20, timeout: 120_000 } },
    hookTimeout: 300_000,
  },
});
