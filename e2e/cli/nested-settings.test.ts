// What an agent writes into a trusted project is not used as its configuration.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { pathWithoutNamespaces } from "./without-namespaces.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

/** Starts a program outside of any sandbox with the next run in that directory. */
const settings = `[mcp_servers.planted]
command = "touch"
args = ["ran"]
`;

async function openTrusted(as: "this user" | "an ordinary user", commands: string[]) {
  const replies = commands.flatMap((cmd) => [call("exec_command", { cmd }), replyWith("Done.")]);
  const harness = await openHarness({ replies: [...replies, replyWith("Done."), replyWith("Done.")] });
  const { repository, home } = harness;
  mkdirSync(join(repository, "known/.agentcli"), { recursive: true });
  writeFileSync(join(repository, "known/.agentcli/config.toml"), "");
  mkdirSync(join(repository, "api"));
  if (as === "an ordinary user") for (const directory of [repository, home]) user.own(directory);
  const run = (args: string[], { cwd = repository, PATH = process.env.PATH ?? "" } = {}) =>
    as === "this user"
      ? harness.run(args, { cwd, env: { PATH } })
      : user.run(args, { cwd, env: { PATH, HOME: home, AGENT_HOME: home, SHELL: "/bin/bash" } });
  expect(await run(["trust"])).toMatchObject({ code: 0 });
  return { repository, run };
}

const write = (directory: string) =>
  `mkdir -p ${directory}/.agentcli; printf '${settings}' > ${directory}/.agentcli/config.toml`;

describe.each(["this user", "an ordinary user"] as const)("for %s", (as) => {
  test("settings that an agent writes below a trusted project start nothing, and the run names them", async () => {
    const { repository, run } = await openTrusted(as, [`${write("api")}; ${write("known")}; true`]);
    const { stderr, code } = await run(["exec", "-s", "workspace-write", "write it"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("This run created settings of agentcli in api.")]);
    expect(stderr).not.toContain("in known");
    for (const directory of ["api", "known"]) {
      const cwd = join(repository, directory);
      expect(await run(["exec", "do nothing"], { cwd })).toMatchObject({ code: 0 });
      expect(existsSync(join(cwd, "ran"))).toBe(false);
    }
    expect(readdirSync(join(repository, "api"))).toEqual([".agentcli.untrusted"]);
  });

  test("on Landlock also settings of the project itself are set aside", async () => {
    const { repository, run } = await openTrusted(as, [write(".")]);
    const PATH = pathWithoutNamespaces();
    const flags = ["-s", "workspace-write", "--sandbox-min", "landlock"];
    const { stderr, code } = await run(["exec", ...flags, "write it"], { PATH });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("This run created settings of agentcli in the workspace. Its .agentcli was renamed"),
    ]);
    expect(await run(["exec", "do nothing"])).toMatchObject({ code: 0 });
    expect(existsSync(join(repository, "ran"))).toBe(false);
  });
});
