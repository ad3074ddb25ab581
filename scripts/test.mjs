// `npm test`: sets up a fresh clone, then checks and tests everything. --long runs every sweep in full.
import { spawnSync } from "node:child_process";
import { setUp } from "./setup.mjs";
import { provideSystemTools, systemTools, toolsOfLongTests } from "./system-tools.mjs";
import { isRoot, runUserTests } from "./user-tests.mjs";
import { runTests } from "./vitest-run.mjs";

const long = process.argv.includes("--long");
const only = process.argv.slice(2).filter((argument) => argument !== "--long");

const tools = [...systemTools, ...(long ? toolsOfLongTests : [])];
await setUp({ tools: () => provideSystemTools({ tools }) });
step("types", () => npx("tsc", "--noEmit") || npx("tsc", "--noEmit", "-p", "packages/web"));
step("lint and format", () => npx("biome", "check", "--error-on-warnings", "."));
step("tests", () => runTests(only, long ? { SWEEP: "full", FUZZ_RUNS: "5000" } : {}).status);
if (isRoot && only.length === 0) step("tests of security as an ordinary user", () => runUserTests());
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
