// Line files: a line cut short by a crash is removed, and there is only one writer.
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { isLockHeld, LineFileFault, openLineFile, takeLock } from "../src/index.ts";

async function temporaryPath(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  return join(directory.path, "below", "lines.jsonl");
}

test("lines follow each other, for the owner only", async () => {
  const path = await temporaryPath();
  const file = openLineFile(path, "thread");
  file.append("one\n");
  file.append("two\nthree\n");
  file.sync();
  file.close();
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("a line of many megabytes has all of its characters, wherever its parts are cut", async () => {
  const path = await temporaryPath();
  const part = "x".repeat(1024 * 1024 - 3);
  for (const start of ["", "a", "ab", part, `${part}x`, `${part}xx`]) {
    const line = `${start}${"\u{1f600}\u00e9\u20ac".repeat(300_000)}\n`;
    const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const file = openLineFile(path, "thread");
    file.append(line);
    file.append("next\n");
    file.close();
    expect(readFileSync(path).subarray(before).toString("utf8") === `${line}next\n`).toBe(true);
  }
});

test("a torn last line is removed when the file is opened again", async () => {
  const path = await temporaryPath();
  openLineFile(path, "thread").close();
  writeFileSync(path, "one\ntw");
  const file = openLineFile(path, "thread");
  file.append("three\n");
  file.close();
  expect(readFileSync(path, "utf8")).toBe("one\nthree\n");
});

test("a second writer is refused, and one that wrote past the lock is noticed", async () => {
  const path = await temporaryPath();
  const file = openLineFile(path, "thread");
  expect(() => openLineFile(path, "thread")).toThrow(`process ${process.pid}`);
  appendFileSync(path, "stranger\n");
  expect(() => file.append("one\n")).toThrow("changed by another process");
  file.close();
  expect(isLockHeld(`${path}.lock`)).toBe(false);
});

test("a lock of a dead process can be taken", async () => {
  const path = await temporaryPath();
  openLineFile(path, "thread").close();
  writeFileSync(`${path}.lock`, JSON.stringify({ pid: process.pid, startedAt: "another time" }));
  expect(isLockHeld(`${path}.lock`)).toBe(false);
  expect(takeLock(`${path}.lock`).kind).toBe("held");
});

test("a file in temporaryPath of the directory is a fault", async () => {
  const path = await temporaryPath();
  openLineFile(path, "thread").close();
  const inside = join(path, "no-directory.jsonl");
  expect(() => openLineFile(inside, "thread")).toThrow(LineFileFault);
});
