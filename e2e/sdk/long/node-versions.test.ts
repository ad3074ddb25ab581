// The installed SDK beside the program on every supported Node. Installs them: minutes, not seconds.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { call, expectNoProcesses, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const started = ["thread.started", "turn.started"];

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  project = await temporaryDirectory({ "package.json": '{"private": true}' });
  const modules = join(project.path, "node_modules");
  for (const part of ["package.json", "dist"])
    cpSync(join(root, "packages/sdk", part), join(modules, "@agentcli/sdk", part), { recursive: true });
  for (const part of ["package.json", "bin", "dist"])
    cpSync(join(root, "packages/cli", part), join(modules, "agentcli", part), { recursive: true });
  cpSync(join(root, "e2e/sdk/long/scenario.mjs"), join(project.path, "scenario.mjs"));
});
afterAll(() => project.remove());

describe.each([["18.19.1"], ["20"], ["22"], ["24"]])("on Node %s", (version) => {
  test("runs, streams, validates, resumes, aborts and reports failures", { timeout: 300_000 }, async () => {
    const prefix = join(project.path, `node-${version}`);
    execFileSync("npm", ["install", "--no-save", "--ignore-scripts=false", "--prefix", prefix, `node@${version}`], {
      stdio: "ignore",
    });
    const wait = call("exec_command", { cmd: "sleep 1000" });
    const { repository, home } = await openHarness({
      replies: [
        replyWith("Done."),
        replyWith("More."),
        replyWith('{"verdict":"pass"}'),
        replyWith("Again."),
        wait,
        wait,
      ],
    });
    const picture = join(repository, "dot.png");
    writeFileSync(picture, Buffer.from(pixel, "base64"));
    const { stdout } = await promisify(execFile)(
      join(prefix, "node_modules/node/bin/node"),
      [join(project.path, "scenario.mjs"), repository, picture],
      { env: { PATH: process.env.PATH, HOME: home, AGENT_HOME: home, SHELL: "/bin/bash" } },
    );
    expect(JSON.parse(stdout)).toEqual({
      node: expect.stringMatching(new RegExp(`^v${version.split(".")[0]}\\.`)),
      ran: "Done.",
      streamed: [...started, "item.completed", "turn.completed"],
      judged: { verdict: "pass" },
      resumed: "Again.",
      aborted: true,
      missing: "not-started",
      dying: "SIGKILL",
    });
    await expectNoProcesses(repository);
  });
});
