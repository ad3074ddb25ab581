// Generated files are what the generator makes of the schemas today.
import { spawnSync } from "node:child_process";
import { type Problem, repositoryRoot } from "./tree.ts";

/** Runs the generator in its checking mode, which writes nothing and names what is stale. */
export function findStaleFiles(root = repositoryRoot): Problem[] {
  const run = spawnSync(process.execPath, ["scripts/generate.mjs", "--check"], { cwd: root, encoding: "utf8" });
  if (run.status === 0) return [];
  const said = `${run.stdout}${run.stderr}`.trim() || (run.error?.message ?? `exit code ${run.status}`);
  return [`Generated files are stale; run \`npm run generate\` and commit the result.\n${said}`];
}
