// Files of lines: what a crash cut short is gone, and two writers never write.
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { isLockHeld, LineFileFault, openLineFile, takeLock } from "../src/index.ts";

async function place(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  return join(directory.path, "below", "lines.jsonl");
}

test("lines follow each other, for the owner only", async () => {
  const path = await place();
  const file = openLineFile(path, "thread");
  file.append("one\n");
  file.append("two\nthree\n");
  file.sync();
  file.close();
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("a torn last line is removed by who opens the file next", async () => {
  const path = await place();
  openLineFile(path, "thread").close();
  writeFileSync(path, "one\ntw");
  const file = openLineFile(path, "thread");
  file.append("three\n");
  file.close();
  expect(readFileSync(path, "utf8")).toBe("one\nthree\n");
});

test("a second writer is refused, and one that wrote past the lock is noticed", async () => {
  const path = await place();
  const file = openLineFile(path, "thread");
  expect(() => openLineFile(path, "thread")).toThrow(`process ${process.pid}`);
  appendFileSync(path, "stranger\n");
  expect(() => file.append("one\n")).toThrow("behind our back");
  file.close();
  expect(isLockHeld(`${path}.lock`)).toBe(false);
});

test("a holder that is dead holds nothing", async () => {
  const path = await place();
  openLineFile(path, "thread").close();
  writeFileSync(`${path}.lock`, JSON.stringify({ pid: process.pid, startedAt: "another time" }));
  expect(isLockHeld(`${path}.lock`)).toBe(false);
  expect(takeLock(`${path}.lock`).kind).toBe("held");
});

test("a file in place of the directory is a fault", async () => {
  const path = await place();
  openLineFile(path, "thread").close();
  const inside = join(path, "no-directory.jsonl");
  expect(() => openLineFile(inside, "thread")).toThrow(LineFileFault);
});
