// Runs the tests. A file that failed is run again, alone: what passes then is listed as unstable.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const reporter = fileURLToPath(new URL("failed-files-reporter.mjs", import.meta.url));

/** Returns the exit status, and the test files that passed only when run alone. */
export function runTests(only, env = {}) {
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
    { stdio: "inherit", env: { ...process.env, ...env, FAILED_FILES_REPORT: report } },
  );
  const { files, unhandledErrors } = readReport(report);
  rmSync(directory, { recursive: true });
  return { status: status ?? 1, files, canRerun: files.length > 0 && unhandledErrors === 0 };
}

/** Without a report the run broke off: no file can be held responsible. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { files: [], unhandledErrors: 0 };
  }
}
