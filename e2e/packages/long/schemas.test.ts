// Files for other systems against the schemas that those systems publish, which the PyPI package check-jsonschema brings along.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { beforeAll, expect, onTestFinished, test } from "vitest";

const version = "0.34.1";
const environment = join(projectRoot, `node_modules/.cache/check-jsonschema-${version}`);
const program = join(environment, "bin/check-jsonschema");

beforeAll(() => {
  if (existsSync(program)) return;
  rmSync(environment, { recursive: true, force: true });
  execFileSync("python3", ["-m", "venv", environment]);
  execFileSync(join(environment, "bin/pip"), ["install", "--quiet", `check-jsonschema==${version}`]);
}, 600_000);

const check = (schema: string, file: string) =>
  spawnSync(program, ["--builtin-schema", `vendor.${schema}`, file], { encoding: "utf8" });

test.each([
  ["gitlab-ci", "examples/ci/gitlab-ci.yml", "  script:", "  scripts:"],
  ["buildkite", "examples/ci/buildkite.yml", "    command:", "    commnd:"],
  ["compose-spec", "deploy/docker/compose.yml", "    volumes:", "    volume:"],
  ["compose-spec", "deploy/docker/compose-workers.yml", "    restart:", "    restrt:"],
])("the schema of %s accepts %s, and would find a mistake in it", async (schema, file, right, wrong) => {
  const { status, stdout } = check(schema, join(projectRoot, file));
  expect([status, stdout]).toEqual([0, "ok -- validation done\n"]);
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const text = readFileSync(join(projectRoot, file), "utf8");
  writeFileSync(join(path, "wrong.yml"), text.replace(right, wrong));
  expect(check(schema, join(path, "wrong.yml")).status).toBe(1);
});
