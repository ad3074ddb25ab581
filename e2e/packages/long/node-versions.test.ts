// Packed packages in empty folders on every supported Node. Installs them: minutes, not seconds.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { install, pack } from "../installed.ts";
import { useInstalled } from "../scenario.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let tarballs: string[];
beforeAll(async () => {
  directory = await temporaryDirectory();
  tarballs = await pack(join(directory.path, "tarballs"));
});
afterAll(() => directory.remove());

describe.each([["20"], ["22"], ["24"]])("on Node %s", (version) => {
  test("every program and library works", { timeout: 300_000 }, async () => {
    const prefix = join(directory.path, `node-${version}`);
    execFileSync("npm", ["install", "--no-save", "--ignore-scripts=false", "--prefix", prefix, `node@${version}`], {
      stdio: "ignore",
    });
    const node = join(prefix, "node_modules/node/bin/node");
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(`v${version}.`);
    const folder = join(directory.path, `folder-${version}`);
    await install(folder, tarballs, "allowed");
    await useInstalled(folder, node);
  });
});
