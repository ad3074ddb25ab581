// The wheels of a release, built by a back end from PyPI, in an environment of their own.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);

const program = `
from agentcli import Client, Sandbox
import platform_sdk
with Client() as client:
    thread = client.thread_start(model="practice", sandbox=Sandbox.read_only)
    print(thread.run("run true").final_response)
print(platform_sdk.__name__)
`;

test("the wheels install without a network into an empty environment, and bring the program along", {
  timeout: 600_000,
}, async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const script = join(projectRoot, "scripts/release-dry.mjs");
  await run(process.execPath, [script, "--out", join(path, "release"), "--parts", "python"]);
  const wheels = readdirSync(join(path, "release/python")).map((name) => join(path, "release/python", name));
  expect(wheels).toHaveLength(2);
  await run("python3", ["-m", "venv", join(path, "venv")]);
  await run(join(path, "venv/bin/pip"), ["install", "--quiet", "--no-index", ...wheels]);
  // Nothing of the clone is on the PATH but Node.
  const PATH = `${join(process.execPath, "..")}:/usr/bin:/bin`;
  const env = { PATH, HOME: path, SHELL: "/bin/bash" };
  const { stdout } = await run(join(path, "venv/bin/python"), ["-c", program], { cwd: path, env });
  expect(stdout).toMatch(/1 step done[\s\S]*\nplatform_sdk\n$/);
});
