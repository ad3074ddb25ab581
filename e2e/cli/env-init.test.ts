// `agentcli env init`: a proposal for environment.json that the platform accepts.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

async function openProject() {
  const { run, repository } = await openHarness({ replies: [] });
  writeFileSync(join(repository, "package.json"), '{"name": "shop", "scripts": {"test": "node --test"}}');
  writeFileSync(join(repository, "package-lock.json"), '{"lockfileVersion": 3, "packages": {}}');
  return { run, repository, file: join(repository, ".platform/environment.json") };
}

test("env init writes an environment.json that follows from the lock file, and says why", async () => {
  const { run, file } = await openProject();
  const { code, stdout } = await run(["env", "init"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Wrote ${file}.`)]);
  expect(stdout).toContain("package-lock.json");
  const written = JSON.parse(readFileSync(file, "utf8"));
  expect(EnvironmentFile.parse(written)).toMatchObject({ install: expect.stringContaining("npm ci") });
  expect(JSON.parse((await run(["env", "init", "--json"])).stdout)).toEqual(written);
});

test("env init leaves a file that exists alone unless it is forced", async () => {
  const { run, file } = await openProject();
  mkdirSync(join(file, ".."));
  writeFileSync(file, "{}");
  expect(await run(["env", "init"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Pass --force") });
  expect(readFileSync(file, "utf8")).toBe("{}");
  expect((await run(["env", "init", "--force"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toContain("npm ci");
});

test("env init does not write through a link in the repository", async () => {
  const { run, repository, file } = await openProject();
  const outside = await temporaryDirectory();
  onTestFinished(outside.remove);
  symlinkSync(outside.path, join(repository, ".platform"));
  expect(await run(["env", "init"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${file} is reached through a link. Remove the link first.`),
  });
  expect(existsSync(join(outside.path, "environment.json"))).toBe(false);
});
