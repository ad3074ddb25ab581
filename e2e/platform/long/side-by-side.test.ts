// An upgrade without a pause: the version before, built from the history of this repository, and this one share a database.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { eventually, projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { openClient, openPlatformForTest, type PlatformClient, type RunIds } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { stepsScript } from "../steps.ts";

const git = (...args: string[]) => execFileSync("git", ["-C", projectRoot, ...args], { encoding: "utf8" }).trim();

/** Of the version that PREVIOUS_VERSION names, such as a tag; otherwise of the one before the newest change of the tables. */
async function buildPrevious(): Promise<string> {
  const migrations = "packages/platform/src/foundation/db/migrations";
  const version =
    process.env.PREVIOUS_VERSION ?? `${git("log", "-1", "--diff-filter=A", "--format=%H", "--", migrations)}^`;
  const { path, remove } = await temporaryDirectory();
  const checkout = join(path, "previous");
  git("worktree", "add", "--detach", checkout, version);
  onTestFinished(async () => {
    git("worktree", "remove", "--force", checkout);
    await remove();
  });
  provideModules(projectRoot, checkout);
  for (const name of readdirSync(join(checkout, "packages")))
    provideModules(join(projectRoot, "packages", name), join(checkout, "packages", name));
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: checkout, stdio: "pipe" });
  return join(checkout, "packages/platform/bin/platform.mjs");
}

/** Those of this checkout, but for packages of the project itself: links that lead to those of `to`. */
function provideModules(from: string, to: string): void {
  const [source, target] = [join(from, "node_modules"), join(to, "node_modules")];
  if (!existsSync(source)) return;
  mkdirSync(target);
  for (const name of readdirSync(source))
    if (name === "@agentcli")
      cpSync(join(source, name), join(target, name), { recursive: true, verbatimSymlinks: true });
    else if (!name.startsWith(".")) symlinkSync(join(source, name), join(target, name));
}

test("servers of the version before and of this one share agents and runs, and this one takes over", async () => {
  const harness = await openPlatformForTest({
    // The one that tests share has the newest tables.
    database: "embedded",
    replies: { replies: stepsScript(() => "sleep 1"), repeat: "always" },
    env: { PLATFORM_LEASE_SECONDS: "5" },
  });
  const program = await buildPrevious();
  const former = await harness.serve({ program });
  const key = await harness.key();
  const before = openClient(former.url, key);
  const running = await before.create("begin before the upgrade");

  const after = openClient((await harness.serve()).url, key);
  expect(await before.read(running)).toMatchObject({ status: expect.stringMatching(/CREATING|RUNNING/) });
  await expectFinished(before, running);

  // Created on each, read on the other, and gone on with on the other.
  for (const [first, other] of [
    [before, after],
    [after, before],
  ] as [PlatformClient, PlatformClient][]) {
    const created = await Promise.all(Array.from({ length: 4 }, () => first.create("work")));
    for (const ids of created) await expectFinished(other, ids);
    for (const { agentId } of created) await expectFinished(first, await other.followUp(agentId, "go on"));
  }

  const left = await Promise.all(Array.from({ length: 4 }, () => before.create("work on")));
  await eventually(async () => (await after.read(left[0] as RunIds)).status === "RUNNING");
  await former.stop("SIGKILL");
  for (const ids of left) await expectFinished(after, ids);
  expect((await harness.run(["audit", "verify"])).stdout).toMatch(/^whole/);
  await expect(harness.serve({ program })).rejects.toThrow("has been migrated by a newer platform");
});

async function expectFinished(client: PlatformClient, ids: RunIds): Promise<void> {
  expect(await client.streamText(ids)).toContain("All done.");
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED" });
}
