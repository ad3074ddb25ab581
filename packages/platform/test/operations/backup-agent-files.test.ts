// Files of agents in a backup: none of them keeps the others from being restored.
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openBackupHarness, passphrase, restoreBackup } from "./backup-harness.ts";

test("a file of an agent that no restore could create or that is mostly holes is named, and all others are restored", async () => {
  const { source, backup, summary, emptyTarget } = await openBackupHarness();
  const { dataDirectory } = source.platform.settings;
  const agent = join(dataDirectory, "workspaces/agent");
  // A file of the platform with such a name is written anew by a restore.
  const alternates = "handoffs/x/objects/info/alternates";
  mkdirSync(join(agent, alternates, ".."), { recursive: true });
  writeFileSync(join(agent, alternates), `${dataDirectory}/mirrors/m/objects\n`, { mode: 0o640 });
  writeFileSync(Buffer.from(`${agent}/\xff`, "latin1"), "not text");
  writeFileSync(join(agent, "holes"), "");
  truncateSync(join(agent, "holes"), 1024 ** 4);
  writeFileSync(join(agent, "unreadable"), "kept", { mode: 0 });
  const path = await backup(passphrase);
  expect(summary()?.leftOut).toEqual({
    count: 2,
    first: [
      { path: "workspaces/agent/holes", reason: "its agent has too many files with holes or several names" },
      { path: "workspaces/agent/\ufffd", reason: "its name is not UTF-8" },
    ],
  });
  const { settings } = await emptyTarget();
  await restoreBackup({ path, passphrase, settings });
  const restored = join(settings.dataDirectory, "workspaces/agent");
  expect(readdirSync(restored).sort()).toEqual(["handoffs", "unreadable"]);
  expect(readFileSync(join(restored, alternates), "utf8")).toBe(`${dataDirectory}/mirrors/m/objects\n`);
  expect(statSync(join(restored, alternates)).mode & 0o777).toBe(0o640);
  expect(statSync(join(restored, "unreadable")).mode & 0o777).toBe(0);
  expect(statSync(join(agent, "unreadable")).mode & 0o777).toBe(0);
});
