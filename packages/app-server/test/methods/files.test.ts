import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { maxBytes, openFiles } from "../../src/methods/files.ts";
import { openHarness } from "./harness.ts";

async function openFixture(files: Record<string, string> = {}) {
  const temporary = await temporaryDirectory(files);
  onTestFinished(temporary.remove);
  return { ...(await openHarness(openFiles)), at: (name: string) => join(temporary.path, name) };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a file", () => {
  test("is read and written byte by byte", async () => {
    const { call, at } = await openFixture({ "a.txt": "one\n" });
    expect(await call("fs/readFile", { path: at("a.txt") })).toEqual({ dataBase64: base64("one\n") });
    const bytes = Buffer.from([0, 255, 10, 128]);
    await call("fs/writeFile", { path: at("b.bin"), dataBase64: bytes.toString("base64") });
    expect(readFileSync(at("b.bin")).equals(bytes)).toBe(true);
  });

  test("that is missing, a directory or a pipe is refused by its path", async () => {
    const { call, at } = await openFixture();
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    for (const [path, reason] of [
      [at("none"), "no such file"],
      [at("folder"), "a directory"],
      [at("pipe"), "pipe"],
    ] as const) {
      const refused = { code: rpcCodes.invalidRequest, message: expect.stringContaining(`${path}: `) };
      await expect(call("fs/readFile", { path })).rejects.toMatchObject(refused);
      await expect(call("fs/readFile", { path })).rejects.toThrow(reason);
    }
    await expect(call("fs/writeFile", { path: at("pipe"), dataBase64: "" })).rejects.toThrow("pipe");
    await expect(call("fs/writeFile", { path: at("none/a"), dataBase64: "" })).rejects.toThrow("no such file");
  });

  test("is named by an absolute path, and written as base64", async () => {
    const { call, at } = await openFixture();
    const refused = { code: rpcCodes.invalidParams };
    await expect(call("fs/readFile", { path: "a.txt" })).rejects.toMatchObject(refused);
    await expect(call("fs/readFile", { path: "/a\0b" })).rejects.toMatchObject(refused);
    await expect(call("fs/writeFile", { path: at("a"), dataBase64: "a" })).rejects.toMatchObject(refused);
    expect(existsSync(at("a"))).toBe(false);
  });

  test("that is too large for one message is refused without being read, one without a size is read", async () => {
    const { call, at } = await openFixture({ huge: "" });
    truncateSync(at("huge"), maxBytes + 1);
    await expect(call("fs/readFile", { path: at("huge") })).rejects.toThrow(`${at("huge")}: it is larger than`);
    const { dataBase64 } = await call("fs/readFile", { path: "/proc/self/status" });
    expect(Buffer.from(dataBase64, "base64").toString()).toContain("Name:");
  });
});

describe("a directory", () => {
  test("is created with its parents, unless disabled", async () => {
    const { call, at } = await openFixture();
    await call("fs/createDirectory", { path: at("a/b") });
    expect(existsSync(at("a/b"))).toBe(true);
    const single = { path: at("c/d"), recursive: false };
    await expect(call("fs/createDirectory", single)).rejects.toThrow("no such file");
    await expect(call("fs/createDirectory", { path: at("a"), recursive: false })).rejects.toThrow("exists already");
  });

  test("lists names and their kinds", async () => {
    const { call, at } = await openFixture({ "b.txt": "", "a/c.txt": "" });
    symlinkSync(at("a"), at("link"));
    symlinkSync(at("nowhere"), at("lost"));
    expect((await call("fs/readDirectory", { path: at("") })).entries).toEqual([
      { fileName: "a", isDirectory: true, isFile: false },
      { fileName: "b.txt", isDirectory: false, isFile: true },
      { fileName: "link", isDirectory: true, isFile: false },
      { fileName: "lost", isDirectory: false, isFile: false },
    ]);
    await expect(call("fs/readDirectory", { path: at("b.txt") })).rejects.toThrow("not a directory");
    await expect(call("fs/readDirectory", { path: at("none") })).rejects.toThrow(`${at("none")}: there is no such`);
  });

  test("and its links report their kinds", async () => {
    const { call, at } = await openFixture({ "a/b.txt": "1" });
    symlinkSync(at("a/b.txt"), at("link"));
    const link = await call("fs/getMetadata", { path: at("link") });
    expect(link).toMatchObject({ isSymlink: true, isFile: true, isDirectory: false });
    expect(await call("fs/getMetadata", { path: at("a/") })).toMatchObject({ isDirectory: true, isSymlink: false });
    await expect(call("fs/getMetadata", { path: at("none") })).rejects.toThrow("no such file");
  });

  test("is removed and copied whole only on request", async () => {
    const { call, at } = await openFixture({ "a/b.txt": "1" });
    const copy = { sourcePath: at("a"), destinationPath: at("c") };
    await expect(call("fs/copy", copy)).rejects.toThrow("with recursive");
    await call("fs/copy", { ...copy, recursive: true });
    expect(readFileSync(at("c/b.txt"), "utf8")).toBe("1");
    await expect(call("fs/copy", { sourcePath: at("none"), destinationPath: at("d") })).rejects.toThrow(at("none"));
    const into = { sourcePath: at("a"), destinationPath: at("a/inside"), recursive: true };
    await expect(call("fs/copy", into)).rejects.toMatchObject({ code: rpcCodes.invalidRequest });
    await expect(call("fs/remove", { path: at("a"), recursive: false })).rejects.toMatchObject({
      code: rpcCodes.invalidRequest,
    });
    await call("fs/remove", { path: at("a") });
    expect(existsSync(at("a"))).toBe(false);
    await call("fs/remove", { path: at("a") });
    await expect(call("fs/remove", { path: at("a"), force: false })).rejects.toThrow("no such file");
    await expect(call("fs/remove", { path: "/", recursive: false })).rejects.toThrow("is not removed");
  });
});

describe("a watch", () => {
  test("reports changes in a directory until it is ended", async () => {
    const { call, at, client } = await openFixture();
    expect(await call("fs/watch", { watchId: "w", path: at("") })).toEqual({ path: at("") });
    writeFileSync(at("new.txt"), "1");
    const { changedPaths } = await client.received("fs/changed");
    expect(changedPaths).toContain(at("new.txt"));
    await expect(call("fs/watch", { watchId: "w", path: at("") })).rejects.toThrow("exists already");
    expect(await call("fs/unwatch", { watchId: "w" })).toEqual({});
    expect(await call("fs/unwatch", { watchId: "w" })).toEqual({});
    await call("fs/watch", { watchId: "w", path: at("") });
  });

  test("follows a file that is replaced, and ignores its siblings", async () => {
    const { call, at, client } = await openFixture({ "a.txt": "1", "b.txt": "1" });
    await call("fs/watch", { watchId: "w", path: at("a.txt") });
    writeFileSync(at("b.txt"), "2");
    writeFileSync(at("draft"), "2");
    renameSync(at("draft"), at("a.txt"));
    expect(await client.received("fs/changed")).toEqual({ watchId: "w", changedPaths: [at("a.txt")] });
    await expect(call("fs/watch", { watchId: "v", path: at("none") })).rejects.toThrow(at("none"));
    await expect(call("fs/watch", { watchId: "v", path: "a.txt" })).rejects.toThrow("not an absolute path");
  });

  test("ends with its client and belongs to it alone", async () => {
    const { call, at, client, join: enter } = await openFixture();
    const other = enter();
    await call("fs/watch", { watchId: "w", path: at("") });
    await call("fs/watch", { watchId: "w", path: at("") }, other);
    client.leave();
    writeFileSync(at("new.txt"), "1");
    await other.received("fs/changed");
    expect(client.notices).toEqual([]);
  });
});
