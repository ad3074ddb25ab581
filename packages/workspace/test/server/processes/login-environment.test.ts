import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openLoginEnvironments } from "../../../src/server/processes/login-environment.ts";

test("a profile that takes too long can release its lock before it is ended, and commands get the plain environment", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const lock = join(home.path, "lock");
  const report = join(home.path, "report");
  writeFileSync(
    join(home.path, ".bash_profile"),
    `trap 'rm "${lock}"; echo released > "${report}"' EXIT\ntouch "${lock}"\nsleep 3600\n`,
  );
  const env = { HOME: home.path, PATH: process.env.PATH ?? "" };
  const logins = openLoginEnvironments({ cwd: home.path, env, isDenied: () => false });
  expect(await logins.of("/bin/bash")).toEqual(env);
  expect(existsSync(lock)).toBe(false);
  expect(readFileSync(report, "utf8")).toBe("released\n");
});
