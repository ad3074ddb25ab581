// `npm test`: sets up a fresh clone, then checks and tests everything. --long runs every sweep in full.
import { spawnSync } from "node:child_process";
import { setUp } from "./setup.mjs";

const long = process.argv.includes("--long");
const only = process.argv.slice(2).filter((argument) => argument !== "--long");

await setUp();
step("types", ["tsc", "--noEmit"]);
step("lint and format", ["biome", "check", "."]);
step("tests", ["vitest", "run", ...only], long ? { SWEEP: "full", FUZZ_RUNS: "5000" } : {});
if (long && only.length === 0) step("MCP conformance", ["node", "packages/mcp/test/conformance/run.mjs"]);

function step(name, [program, ...args], env = {}) {
  console.log(`\n> ${name}`);
  const { status } = spawnSync("npx", ["--no-install", program, ...args], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) {
    console.error(`${name}: failed`);
    process.exit(status ?? 1);
  }
}
