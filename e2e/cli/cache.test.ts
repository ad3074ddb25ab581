// Build caches of sandboxed commands: kept between runs, listed and removed by `agentcli cache`.
import { writeFileSync } from "node:fs";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const write = call("exec_command", {
  cmd: 'mkdir -p "$GOCACHE" && head -c 3000000 /dev/zero > "$GOCACHE/object"; ls "$GOCACHE"',
});

test("a cache is kept between runs, has a size, and can be cleared", async () => {
  const look = call("exec_command", { cmd: 'ls "$GOCACHE"' });
  const { run, requests, repository, home } = await openHarness({
    replies: [write, replyWith("A."), look, replyWith("B.")],
  });
  await run(["exec", "-s", "workspace-write", "build"], { env: { HOME: home } });
  await run(["exec", "-s", "workspace-write", "build again"], { env: { HOME: home } });
  expect(toolOutputs(requests().at(-1)).at(-1)).toMatch(/Output:\nobject\n$/);
  const size = await run(["cache", "size", "--json"], { env: { HOME: home } });
  expect(JSON.parse(size.stdout)).toMatchObject({ caches: [{ project: repository }] });
  expect((await run(["cache"], { env: { HOME: home } })).stdout).toMatch(/^ +3\.\d MB {2}\S+\n +3\.\d MB {2}in all\n$/);
  expect((await run(["cache", "clear", "/nowhere"], { env: { HOME: home } })).stdout).toMatch(
    /^ +0\.0 MB {2}removed\n$/,
  );
  expect((await run(["cache", "clear"], { env: { HOME: home } })).stdout).toMatch(/3\.\d MB {2}removed\n$/);
  expect((await run(["cache", "size"], { env: { HOME: home } })).stdout).toMatch(/^ +0\.0 MB {2}in all\n$/);
});

test("build_cache = none and allow_login_shell = false are obeyed", async () => {
  const look = call("exec_command", { cmd: 'echo "cache:${GOCACHE-none} login:${FROM_PROFILE-none}"' });
  const { run, requests, home } = await openHarness({ replies: [look, replyWith("A.")] });
  const settings = ["-c", "sandbox_workspace_write.build_cache=none", "-c", "allow_login_shell=false"];
  writeFileSync(`${home}/.profile`, "export FROM_PROFILE=yes\n");
  await run(["exec", "-s", "workspace-write", ...settings, "look"], { env: { HOME: home } });
  expect(toolOutputs(requests().at(-1))[0]).toContain("cache:none login:none");
});
