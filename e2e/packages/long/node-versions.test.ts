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

// With the npm that comes with it, and with the scripts of packages, as npm installs them unless a setting forbids it.
describe.each([
  ["20", "10"],
  ["22", "10"],
  ["24", "11"],
])("on Node %s with npm %s", (version, npmVersion) => {
  test("the packages install without a network from npm's cache, and every program and library works", {
    timeout: 600_000,
  }, async () => {
    const prefix = join(directory.path, `node-${version}`);
    const programs = [`node@${version}`, `npm@${npmVersion}`];
    execFileSync("npm", ["install", "--no-save", "--ignore-scripts=false", "--prefix", prefix, ...programs], {
      stdio: "ignore",
    });
    const node = join(prefix, "node_modules/node/bin/node");
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(`v${version}.`);
    const npm = [node, join(prefix, "node_modules/npm/bin/npm-cli.js")];
    const flags = ["--ignore-scripts=false", "--cache", join(prefix, "cache")];
    const [first, second] = ["first", "second"].map((name) => join(directory.path, `${name}-${version}`)) as [
      string,
      string,
    ];
    await expect(install(second, tarballs, { network: "none", npm, flags })).rejects.toThrow("ENOTCACHED");
    await install(first, tarballs, { network: "allowed", npm, flags });
    await install(second, tarballs, { network: "none", npm, flags });
    await useInstalled(second, node);
  });
});
