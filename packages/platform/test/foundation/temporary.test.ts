// Temporary directories of processes that are gone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { identityOf } from "@agentcli/workspace";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeTemporaryDirectory } from "../../src/foundation/index.ts";

test("the directory of a process that was killed is removed by the next one, that of a live process stays", async () => {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder.remove());
  vi.stubEnv("TMPDIR", folder.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const { pid, startedAt } = identityOf(child.pid ?? 0);
  const ofChild = `platform-ssh-${pid}-${startedAt}-0a`;
  for (const name of [ofChild, "another-program"]) mkdirSync(join(folder.path, name));
  writeFileSync(join(folder.path, ofChild, "known_hosts"), "x");
  const first = await makeTemporaryDirectory("ssh");
  expect(readdirSync(folder.path)).toContain(ofChild);
  child.kill("SIGKILL");
  await once(child, "close");
  const second = await makeTemporaryDirectory("ssh");
  const expected = [first, second].map((path) => path.slice(folder.path.length + 1));
  expect(readdirSync(folder.path).sort()).toEqual(["another-program", ...expected].sort());
});
