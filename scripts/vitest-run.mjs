// Runs the tests. A file that failed is run again, alone: what passes then is listed as unstable.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inMemory } from "./in-memory.mjs";

const reporter = fileURLToPath(new URL("failed-files-reporter.mjs", import.meta.url));

/** Returns the exit status, and the test files that passed only when run alone. */
export const runTests = (only, env = {}) =>
  inMemory((cluster) => runFiles(only, { ...env, ...(cluster && { TEST_CLUSTER: cluster }) }));

function runFiles(only, env) {
  const first = runVitest(only, env);
  if (first.status === 0) return { status: 0, unstable: [] };
  if (!first.canRerun) return { status: first.status, unstable: [] };
  const stillFailing = first.files.filter((file) => {
    console.log(`\n> tests of ${file}, alone`);
    return runVitest([file], env).status !== 0;
  });
  const unstable = first.files.filter((file) => !stillFailing.includes(file));
  for (const file of unstable) console.log(`unstable: ${file} failed, then passed alone`);
  return { status: stillFailing.length === 0 ? 0 : 1, unstable };
}

function runVitest(only, env) {
  const directory = mkdtempSync(join(tmpdir(), "failed-files-"));
  const report = join(directory, "report.json");
  const { status } = spawnSync(
    "npx",
    ["--no-install", "vitest", "run", ...only, "--reporter=default", `--reporter=${reporter}`],
    { stdio: "inherit", env: { ...testVariables(), ...env, FAILED_FILES_REPORT: report } },
  );
  const { files, unhandledErrors } = readReport(report);
  rmSync(directory, { recursive: true });
  return { status: status ?? 1, files, canRerun: files.length > 0 && unhandledErrors === 0 };
}

/**
 * Tests speak to servers of their own, and name the certificates of those. A bundle of the machine makes each start of
 * Node three times as long (100 instead of 31 ms of processor time for one of 150 authorities), and tests start thousands.
 */
function testVariables() {
  const { NODE_EXTRA_CA_CERTS: certificates, ...variables } = process.env;
  if (certificates === undefined) return variables;
  // For npm, which tests of packages start.
  return { npm_config_cafile: certificates, ...variables, MACHINE_CA_CERTS: certificates };
}

/** Without a report the run broke off: no file can be held responsible. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { files: [], unhandledErrors: 0 };
  }
}
