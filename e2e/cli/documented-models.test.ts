// Commands of README, of the guide to models and of pages that need a model: run as they are written, with a scripted one.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { call, cliProgram, projectRoot, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);

const shownIn = (page: string) =>
  [...readFileSync(join(projectRoot, page), "utf8").matchAll(/```console\n([\s\S]*?)```/g)]
    .flatMap(([, block = ""]) => block.trim().split("\n"))
    .filter((line) => !line.startsWith("npm install"))
    .map((line): [string, string] => [page, line]);

/** `npx` and `agentcli` start the built program. */
async function programsOnPath(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const programs = { npx: 'exec "$@"', agentcli: `exec "${process.execPath}" "${cliProgram}" "$@"` };
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(path, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(path, name), 0o755);
  }
  return path;
}

const pages = [
  "README.md",
  "packages/cli/README.md",
  "docs/guide-models.md",
  "docs/credentials.md",
  "docs/telemetry.md",
];

test.each(pages.flatMap(shownIn))("%s: %s", async (_, line) => {
  const tried = [replyWith("OK"), call("report", { word: "OK" })];
  const { repository, home, requests } = await openHarness({
    replies: line.includes("models try") ? tried : [replyWith("Read.")],
    files: { "a.txt": "a\n" },
  });
  const config = readFileSync(join(home, "config.toml"), "utf8");
  const [, url = ""] = /base_url = "(.*)"/.exec(config) ?? [];
  const other = `[model_providers.openrouter]\nbase_url = "${url}"\nwire_api = "responses"\n`;
  writeFileSync(join(home, "config.toml"), config + other);
  mkdirSync(join(home, "user"));
  const PATH = `${await programsOnPath()}:${process.env.PATH}`;
  const env = { PATH, HOME: join(home, "user"), AGENT_HOME: home, AGENT_OSS_BASE_URL: url, SHELL: "/bin/bash" };
  await run("bash", ["-c", line.replaceAll("…", "key")], { cwd: repository, env });
  // The practice model is inside the program, and creates the file.
  if (line.includes("--model practice")) expect(readFileSync(join(repository, "notes.txt"), "utf8")).toBe("Hello\n");
  else expect(requests().length).toBeGreaterThan(0);
});
