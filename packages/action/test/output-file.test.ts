// What the agent says goes to the file that the workflow names, and to no other one that the agent has linked there.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { writeMessage } from "../src/output-file.ts";

let directory = "";
const path = (name: string) => join(directory, name);
const write = (name: string) => writeMessage(path(name), "said", path("work"));

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "output-file-")));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of ["work/docs", "home"]) mkdirSync(path(name), { recursive: true });
  writeFileSync(path("home/.profile"), "own");
});

test.each([
  ["the file", "../home/.profile", "message.txt", "message.txt"],
  ["the directory of the file", "../home", "out", "out/.profile"],
  ["a directory further up", "..", "out", "out/home/.profile"],
])("the final message is not written through a link in the place of %s", (_, target, link, file) => {
  symlinkSync(target, path(`work/${link}`));
  expect(() => write(`work/${file}`)).toThrow(/cannot be written: .*the agent may have made it/);
  expect(readFileSync(path("home/.profile"), "utf8")).toBe("own");
});

test("a pipe in the place of the file keeps no step waiting, whether it has a reader or not", async () => {
  execFileSync("mkfifo", [path("work/pipe")]);
  expect(() => write("work/pipe")).toThrow(/cannot be written: .*ENXIO/);
  const idle = spawn("sh", ["-c", 'exec 3<>"$1"; echo ready; exec sleep 600', "sh", path("work/pipe")]);
  onTestFinished(() => void idle.kill("SIGKILL"));
  await once(idle.stdout, "data");
  expect(() => writeMessage(path("work/pipe"), "x".repeat(300_000), path("work"))).toThrow(
    /cannot be written: .*EAGAIN/,
  );
});

test("the final message replaces a file, makes a new one, and follows links above the working directory", () => {
  writeFileSync(path("work/docs/a.txt"), "a longer text than before");
  symlinkSync("work", path("linked"));
  symlinkSync("home", path("elsewhere"));
  for (const name of ["work/docs/a.txt", "work/b.txt", "elsewhere/c.txt"]) {
    write(name);
    expect(readFileSync(path(name), "utf8")).toBe("said");
  }
  writeMessage(path("linked/d.txt"), "said", path("linked"));
  expect(readFileSync(path("work/d.txt"), "utf8")).toBe("said");
});
