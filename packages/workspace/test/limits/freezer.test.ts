// Control groups whose processes neither stop nor end, as those that wait for a broken device: plain files in their place.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freezeGroup, killGroup } from "../../src/limits/index.ts";

const notAProcess = 2 ** 30;
let group = "";
beforeEach(() => {
  group = mkdtempSync(join(tmpdir(), "group-"));
  writeFileSync(join(group, "cgroup.procs"), `${notAProcess}\n`);
  writeFileSync(join(group, "cgroup.freeze"), "0");
  writeFileSync(join(group, "cgroup.events"), "populated 1\nfrozen 0\n");
});
afterEach(() => rmSync(group, { recursive: true }));

test("a group that does not freeze is given up with its processes named, and thawed", async () => {
  await expect(freezeGroup(group, 20)).rejects.toThrow(
    `The processes ${notAProcess} of the control group ${group} could not be frozen within 20 ms`,
  );
  expect(readFileSync(join(group, "cgroup.freeze"), "utf8")).toBe("0");
});

test("a group that does not end is given up with its processes named", async () => {
  await expect(killGroup(group, 20)).rejects.toThrow(
    `The processes ${notAProcess} of the control group ${group} did not end within 20 ms of SIGKILL`,
  );
});
