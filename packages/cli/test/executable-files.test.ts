import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type Packed, unpackFiles } from "../src/executable/unpack-files.ts";

async function openPrograms(changes: Partial<Packed> = {}): Promise<Packed> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const list = () => ["program.cjs", "chunks/run.cjs"].map((file) => ({ path: file, mode: 0o400 }));
  return { programs: join(path, "program"), digest: "d1", list, read: (file) => Buffer.from(file), ...changes };
}

const fullDisk = (file: string): Uint8Array => {
  if (file.startsWith("chunks/")) throw new Error("ENOSPC: no space left on device, write");
  return Buffer.from(file);
};

test("files of an executable are unpacked once, read-only, and used from then on", async () => {
  const packed = await openPrograms();
  const directory = unpackFiles(packed);
  expect(readFileSync(join(directory, "chunks/run.cjs"), "utf8")).toBe("chunks/run.cjs");
  expect(statSync(join(directory, "program.cjs")).mode & 0o777).toBe(0o400);
  expect(unpackFiles({ ...packed, read: fullDisk })).toBe(directory);
});

test("unpacking that fails leaves nothing, says what to do, and works once there is room", async () => {
  const packed = await openPrograms();
  expect(() => unpackFiles({ ...packed, read: fullDisk })).toThrow(/cannot be unpacked into .*ENOSPC.*Make room there/);
  expect(readdirSync(packed.programs)).toEqual([]);
  expect(readdirSync(unpackFiles(packed)).sort()).toEqual(["chunks", "program.cjs"]);
});

test("what a killed process left half unpacked is neither used nor kept", async () => {
  const packed = await openPrograms();
  const [old, young] = ["d1.killed", "d1.running"].map((name) => join(packed.programs, name));
  for (const draft of [old ?? "", young ?? ""]) {
    mkdirSync(draft, { recursive: true });
    writeFileSync(join(draft, "program.cjs"), "half");
  }
  utimesSync(old ?? "", 0, 0);
  expect(readFileSync(join(unpackFiles(packed), "program.cjs"), "utf8")).toBe("program.cjs");
  expect(readdirSync(packed.programs).sort()).toEqual(["d1", "d1.running"]);
});

test("of two that unpack at once the first is kept, and the other uses it", async () => {
  const packed = await openPrograms();
  const read = (file: string) => {
    if (file === "program.cjs") unpackFiles(packed);
    return Buffer.from("second");
  };
  const directory = unpackFiles({ ...packed, read });
  expect(readFileSync(join(directory, "program.cjs"), "utf8")).toBe("program.cjs");
  expect(readdirSync(packed.programs)).toEqual(["d1"]);
});
