// Installing on every supported Node: `npm ci` in a clone accepts the lock file, `npm install -g` takes the packed program,
// and neither warns of anything.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Without the settings of the npm and the user that run the tests. */
const cleanEnvironment = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));

function npm(directory: string, path: string, ...args: string[]) {
  const env = { ...Object.fromEntries(cleanEnvironment), PATH: path };
  return spawnSync("npm", ["--userconfig=/dev/null", ...args], { cwd: directory, env, encoding: "utf8" });
}

test.each(["20", "22", "24"])("on Node %s", { timeout: 600_000 }, async (version) => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const clone = join(directory.path, "clone");
  const manifests = readdirSync(join(root, "packages")).map((name) => join("packages", name, "package.json"));
  for (const file of ["package.json", "package-lock.json", ".npmrc", ...manifests]) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  const tools = npm(
    directory.path,
    process.env.PATH ?? "",
    "install",
    "--prefix",
    directory.path,
    `node@${version}`,
    "npm@^10 || ^11",
  );
  expect(tools.status, tools.stderr).toBe(0);
  const path = `${join(directory.path, "node_modules/.bin")}:${process.env.PATH}`;
  expect(npm(clone, path, "ci")).toMatchObject({ status: 0, stderr: "" });
  expect(npm(join(root, "packages/cli"), path, "pack", "--silent", "--pack-destination", directory.path).status).toBe(
    0,
  );
  const packed = join(directory.path, "agentcli-0.1.0.tgz");
  const prefix = join(directory.path, "global");
  expect(npm(directory.path, path, "install", "--global", "--prefix", prefix, packed)).toMatchObject({
    status: 0,
    stderr: "",
  });
  const installed = spawnSync(join(prefix, "bin/agentcli"), ["--version"], { env: { PATH: path }, encoding: "utf8" });
  expect(installed).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("agentcli ") });
});
