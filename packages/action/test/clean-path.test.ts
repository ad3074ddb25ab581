// Where the steps of the action find node and npm: never in the repository.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { findNpm } from "../src/install.ts";
import { startProxy } from "../src/proxy.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const npmOf = (folder: string): string => join(folder, "../lib/node_modules/npm/bin/npm-cli.js");

/** A repository with a planted `node`, and a link from outside to its directory. */
async function openWorkspace() {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const workspace = join(path, "work space");
  const bin = join(workspace, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "node"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
  mkdirSync(dirname(npmOf(bin)), { recursive: true });
  writeFileSync(npmOf(bin), "");
  symlinkSync(bin, join(path, "link"));
  return { workspace, bin, link: join(path, "link") };
}

test("no step runs node from a directory of the repository", async () => {
  const { workspace, bin, link } = await openWorkspace();
  const { runs } = parse(readFileSync(join(root, "action.yml"), "utf8")) as { runs: { steps: { run: string }[] } };
  for (const { run } of runs.steps) {
    const script = run.replace(/"\$AGENTCLI_ACTION\/packages\/action\/dist\/main\.cjs" [\w-]+/, '-e "console.log(1)"');
    expect(script).not.toBe(run);
    const env = {
      PATH: ["node_modules/.bin", "", bin, link, `${bin}/../.bin`, dirname(process.execPath), "/bin"].join(":"),
      ...{ GITHUB_WORKSPACE: workspace, AGENTCLI_ACTION: root },
    };
    const { stdout } = await promisify(execFile)("/bin/bash", ["-eo", "pipefail", "-c", script], {
      cwd: workspace,
      env,
    });
    expect(stdout).toBe("1\n");
  }
});

test("npm is not taken from a directory of the repository", async () => {
  const { workspace, bin, link } = await openWorkspace();
  const executable = process.execPath;
  onTestFinished(() => {
    process.execPath = executable;
  });
  process.execPath = join(workspace, "../nowhere/bin/node");
  const outside = join(workspace, "../outside/bin");
  mkdirSync(dirname(npmOf(outside)), { recursive: true });
  writeFileSync(npmOf(outside), "");
  const found = findNpm({ PATH: ["node_modules/.bin", bin, link, outside].join(":"), GITHUB_WORKSPACE: workspace });
  expect(found).toBe(npmOf(outside));
});

test("without an installed agentcli the key is given to no program", async () => {
  const variables = { INPUT_AGENT_API_KEY: "sk-secret", AGENTCLI_PROGRAM: "", AGENTCLI_STEP_PARENT: "1" };
  await expect(startProxy(variables)).rejects.toThrow("AGENTCLI_PROGRAM is empty");
});
