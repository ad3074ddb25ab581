// The command of README that measures, with one round of each: minutes, not seconds.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "@agentcli/testkit";
import { expect, test } from "vitest";

test("npm run bench, as README shows it, measures start, tool calls, streams, memory and the platform", {
  timeout: 3_600_000,
}, async () => {
  expect(readFileSync(join(projectRoot, "README.md"), "utf8")).toContain("\nnpm run bench\n");
  const options = { cwd: projectRoot, env: { ...process.env, ROUNDS: "1" }, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)("npm", ["run", "bench"], options);
  for (const part of ["hello", "--version", "stream", "responses proxy", "platform"]) expect(stdout).toContain(part);
  expect(stdout).not.toMatch(/NaN|undefined/);
});
