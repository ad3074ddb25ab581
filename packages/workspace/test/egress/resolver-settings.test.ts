// What a machine may have put in the place of /etc/resolv.conf, before the next server inside starts.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeResolverSettings } from "../../src/egress/transparent/resolver-settings.ts";

let directory = "";
let path = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "resolver-"));
  path = join(directory, "resolv.conf");
});
afterEach(() => rmSync(directory, { recursive: true }));

const settings = /^# .*\nnameserver 198\.18\.0\.1\n$/;

const found: Record<string, () => void> = {
  nothing: () => {},
  "the file of another name server": () => writeFileSync(path, "nameserver 8.8.8.8\n"),
  "a directory in the place of a draft": () => mkdirSync(`${path}.${process.pid}`),
  "a link to a file that must not change": () => {
    writeFileSync(join(directory, "target"), "kept");
    symlinkSync("target", path);
  },
  "a link to itself": () => symlinkSync(path, path),
  "a link to a device without an end": () => symlinkSync("/dev/zero", path),
  "a file of a terabyte": () => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 40);
  },
  "a pipe without a writer": () => void execFileSync("mkfifo", [path]),
};

test.each(Object.entries(found))("%s is replaced by the settings", (_, put) => {
  put();
  writeResolverSettings(path);
  expect(readFileSync(path, "utf8")).toMatch(settings);
  if (existsSync(join(directory, "target"))) expect(readFileSync(join(directory, "target"), "utf8")).toBe("kept");
});

test("settings that are there already are not written again, and no draft is left", () => {
  writeResolverSettings(path);
  const before = statSync(path).ino;
  writeResolverSettings(path);
  expect(statSync(path).ino).toBe(before);
  expect(readdirSync(directory)).toEqual(["resolv.conf"]);
});

test("where they cannot be written, the server starts nevertheless", () => {
  mkdirSync(path);
  writeResolverSettings(path);
  writeResolverSettings(join(directory, "none", "resolv.conf"));
  expect(readdirSync(directory)).toEqual(["resolv.conf"]);
});
