// A home that is mounted a second time, as in containers for development, hides what it hides under its usual name.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitForExit } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { pathWithoutNamespaces } from "./without-namespaces.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

const program = fileURLToPath(new URL("../../packages/cli/bin/agentcli.cjs", import.meta.url));
const paths = { bubblewrap: () => process.env.PATH ?? "", Landlock: pathWithoutNamespaces };

/** A home with a key, and an empty directory beside it. */
function makeHome(): { base: string; home: string; second: string } {
  const base = realpathSync(mkdtempSync("/var/tmp/second-mounts-"));
  onTestFinished(() => rmSync(base, { recursive: true }));
  chmodSync(base, 0o755);
  const [home, second] = [join(base, "home"), join(base, "second")];
  for (const directory of ["home/.ssh", "home/docs", "home/project", "second/.ssh"])
    mkdirSync(join(base, directory), { recursive: true });
  writeFileSync(join(home, ".ssh/id"), "SECRET");
  writeFileSync(join(home, "docs/shown"), "PUBLIC");
  return { base, home, second };
}

describe.each(["this user", "an ordinary user"] as const)("run by %s", (as) => {
  test.each([
    ["bubblewrap", "a home", "home", "second"],
    ["bubblewrap", "a hidden directory", "home/.ssh", "second/.ssh"],
    ["Landlock", "a home", "home", "second"],
    ["Landlock", "a hidden directory", "home/.ssh", "second/.ssh"],
  ] as const)("on %s, %s that is mounted a second time hides the same", async (backEnd, _what, mounted, at) => {
    const { base, home, second } = makeHome();
    if (as === "an ordinary user") user.own(base);
    const script = `cat ${home}/docs/shown; cat ${second}/.ssh/id ${home}/.ssh/id`;
    const args = ["sandbox", "run", "--", "sh", "-c", script];
    const mount = `mount --bind ${join(base, mounted)} ${join(base, at)} && exec "$@"`;
    const inside = ["--map-root-user", "--mount", "sh", "-c", mount, "sh"];
    const env = { PATH: paths[backEnd](), HOME: home, AGENT_HOME: join(home, ".agentcli"), SHELL: "/bin/bash" };
    const options = { cwd: join(home, "project"), env };
    const { stdout, stderr } = await (as === "this user"
      ? waitForExit(spawn("unshare", [...inside, process.execPath, program, ...args], options))
      : user.run(args, { ...options, inside: ["unshare", ...inside] }));
    expect(`${stdout}${stderr}`).not.toContain("SECRET");
    expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining("PUBLIC") });
  });
});
