// `npm test`: sets up a fresh clone, then checks and tests everything, of sweeps a sample. --long runs every sweep in full.
import { spawnSync } from "node:child_process";
import { setUp } from "./setup.mjs";
import { provideSystemTools, systemTools, toolsOfLongTests } from "./system-tools.mjs";
import { isRoot, runUserTests, sampleOfSecurityTests, securityTests } from "./user-tests.mjs";
import { runTests } from "./vitest-run.mjs";

const long = process.argv.includes("--long");
const only = process.argv.slice(2).filter((argument) => argument !== "--long");

/** Days since 1970, so that each day has other samples; the same throughout a run that goes past midnight. */
process.env.SWEEP_SEED ??= String(Math.floor(Date.now() / 86_400_000));

const tools = [...systemTools, ...(long ? toolsOfLongTests : [])];
await setUp({ tools: () => provideSystemTools({ tools }) });
step("types", () => npx("tsc", "--noEmit") || npx("tsc", "--noEmit", "-p", "packages/web"));
step("lint and format", () => npx("biome", "check", "--error-on-warnings", "."));
if (!long) console.log(`\nSamples of sweeps: SWEEP_SEED=${process.env.SWEEP_SEED} repeats them.`);
step("tests", () => runTests(only, long ? { SWEEP: "full", FUZZ_RUNS: "5000" } : {}).status);
if (isRoot && only.length === 0)
  step("tests of security as an ordinary user", () => runUserTests(long ? securityTests : sampleOfSecurityTests()));
if (long && only.length === 0) step("MCP conformance", () => npx("node", "packages/mcp/test/conformance/run.mjs"));

function step(name, run) {
  console.log(`\n> ${name}`);
  const status = run();
  if (status === 0) return;
  console.error(`${name}: failed`);
  process.exit(status);
}

function npx(...argv) {
  return spawnSync("npx", ["--no-install", ...argv], { stdio: "inherit" }).status ?? 1;
}
