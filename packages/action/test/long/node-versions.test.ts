// The action on the Node versions that runners have. Installs them: minutes, not seconds.
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { key, openScenario } from "../scenario.ts";

/** A directory with `bin/node` and `bin/npm`, of packages of the registry. */
async function provideNode(version: string): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts=false", "--prefix", path];
  execFileSync("npm", ["install", ...flags, `node@${version}`, "npm@10"], { stdio: "ignore" });
  symlinkSync("node_modules/.bin", join(path, "bin"));
  execFileSync("chmod", ["755", path]);
  return path;
}

test.each(["20", "22", "24"])(
  "on Node %s the message comes out, and commands and later steps find no key",
  {
    timeout: 300_000,
  },
  async (version) => {
    const search = call("exec_command", {
      cmd: "node --version; id -un; node /opt/search.cjs; sudo -n true || echo no sudo",
    });
    const { runner, model, use } = await openScenario([search, replyWith("Done.")], await provideNode(version));
    const result = await use({ prompt: "Look around", sandbox: "danger-full-access" });
    expect(result, result.log).toMatchObject({ ok: true, outputs: { "final-message": "Done.", "exit-code": "0" } });
    expect(result.log).not.toContain(key);
    const seen = JSON.stringify(model.requests().at(-1)?.body);
    expect(seen).toContain(`v${version}.`);
    expect(seen).toContain("no sudo");
    // The control is found, so the search works; the key is not.
    expect(seen).toContain("1 /proc/N/environ");
    expect(seen).not.toContain("0 /");
    expect((await runner.shell("node /opt/search.cjs; sudo -n true || echo no sudo")).stdout).toBe("[]\nno sudo\n");
  },
);
