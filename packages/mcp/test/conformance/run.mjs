// Runs the client scenarios of the MCP conformance suite against packages/mcp and prints the result of each.
// The suite needs Node 22, so that comes from npm too. With names as arguments, only those scenarios run.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
const packages = ["@modelcontextprotocol/conformance@0.1.16", "node@22.23.3"];

/** Scenarios of published versions of the protocol. Drafts and extensions are not among them. */
export const scenarios = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
];

const named = process.argv.slice(2);
const workDirectory = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
try {
  const client = await buildClient(workDirectory);
  const suite = installSuite(workDirectory);
  const results = (named.length > 0 ? named : scenarios).map((scenario) => runScenario(scenario, { client, suite }));
  const failed = results.filter((result) => result.failures.length > 0);
  for (const { failures, output } of failed) console.log(`\n${failures.join("\n")}\n${output}`);
  console.log(`\n${results.length - failed.length} of ${results.length} scenarios passed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  rmSync(workDirectory, { recursive: true, force: true });
}

async function buildClient(directory) {
  const file = join(directory, "client.mjs");
  const input = join(root, "packages/mcp/test/conformance/client.ts");
  const bundle = await rolldown({ input, platform: "node", treeshake: { moduleSideEffects: false } });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  return file;
}

/** `AGENTCLI_CONFORMANCE` names a directory where both packages are already installed. */
function installSuite(directory) {
  const root = process.env.AGENTCLI_CONFORMANCE ?? join(directory, "suite");
  if (!process.env.AGENTCLI_CONFORMANCE) {
    mkdirSync(root);
    writeFileSync(join(root, "package.json"), '{"private": true}\n');
    run("npm", ["install", "--ignore-scripts=false", "--no-audit", "--no-fund", "--loglevel=error", ...packages], root);
  }
  const modules = join(root, "node_modules");
  return {
    node: join(modules, "node/bin/node"),
    program: join(modules, "@modelcontextprotocol/conformance/dist/index.js"),
  };
}

function runScenario(scenario, { client, suite }) {
  const results = mkdtempSync(join(workDirectory, "results-"));
  const args = [suite.program, "client", "--command", `${process.execPath} ${client}`, "--scenario", scenario];
  const ran = spawnSync(suite.node, [...args, "--output-dir", results], {
    cwd: results,
    encoding: "utf8",
    timeout: 60_000,
  });
  const checks = readChecks(results);
  const failures = checks
    .filter(({ status }) => status === "FAILURE")
    .map((check) => `${scenario}: ${check.id}: ${check.description} ${check.errorMessage ?? ""}`);
  if (checks.length === 0) failures.push(`${scenario}: the suite wrote no checks (exit code ${ran.status})`);
  if (ran.status !== 0 && failures.length === 0)
    failures.push(`${scenario}: the suite ended with exit code ${ran.status}`);
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  console.log(
    `${failures.length === 0 ? "pass" : "FAIL"}  ${scenario.padEnd(45)} ${passed} checks passed, ${failures.length} failed`,
  );
  return { failures, output: `${ran.stdout}${ran.stderr}` };
}

function readChecks(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((name) => String(name).endsWith("checks.json"))
    .flatMap((name) => JSON.parse(readFileSync(join(directory, String(name)), "utf8")));
}

function run(program, args, cwd) {
  const { status } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with exit code ${status}`);
}
