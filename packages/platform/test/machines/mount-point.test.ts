// Where directories of a machine's disk are mounted in the workspace of an agent, who can write there.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeMountPoint } from "../../src/machines/mount-point.ts";

test("a mount point is made in the agent's own directories only: no link is followed, and no file is covered", () => {
  const directory = mkdtempSync(join(tmpdir(), "mount-point-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [workspace, outside] = [join(directory, "workspace"), join(directory, "outside")];
  for (const path of [join(workspace, "shop/src"), outside]) mkdirSync(path, { recursive: true });
  expect(makeMountPoint(workspace, "/workspace/shop/node_modules")).toBe(true);
  expect(makeMountPoint(workspace, "/workspace/shop/node_modules")).toBe(true);
  symlinkSync(outside, join(workspace, "shop/packages"));
  expect(makeMountPoint(workspace, "/workspace/shop/packages/node_modules")).toBe(false);
  expect(makeMountPoint(workspace, "/workspace/shop/packages")).toBe(false);
  expect(existsSync(join(outside, "node_modules"))).toBe(false);
  writeFileSync(join(workspace, "shop/src/own.ts"), "");
  expect(makeMountPoint(workspace, "/workspace/shop/src")).toBe(false);
  expect(makeMountPoint(workspace, "/workspace/shop/src/own.ts")).toBe(false);
  expect(makeMountPoint(workspace, "/workspace/gone/node_modules")).toBe(false);
  expect(existsSync(join(workspace, "gone"))).toBe(false);
  for (const path of [
    "/workspace/../made",
    "/workspace/shop/../../made",
    "/workspace/.",
    "/workspace/..",
    "/workspace//a",
  ])
    expect(makeMountPoint(workspace, path), path).toBe(false);
  expect(existsSync(join(directory, "made"))).toBe(false);
});
