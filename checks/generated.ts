// Generated files match what the generator writes from the current schemas.
import { spawnSync } from "node:child_process";
import { type Problem, repositoryRoot } from "./tree.ts";

/** Runs the generator with --check, which writes nothing and names stale files. */
export function findStaleFiles(root = repositoryRoot): Problem[] {
  const run = spawnSync(process.execPath, ["scripts/generate.mjs", "--check"], { cwd: root, encoding: "utf8" });
  if (run.status === 0) return [];
  const output = `${run.stdout}${run.stderr}`.trim() || (run.error?.message ?? `exit code ${run.status}`);
  return [`Generated files are stale; run \`npm run generate\` and commit the result.\n${output}`];
}
