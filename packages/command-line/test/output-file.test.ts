// What a person names for an output gets all of it, and nothing that an agent puts in its place does.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { emptyOutputFile, writeOutputFile } from "../src/output-file.ts";

let base = "";
const path = (name: string) => join(base, name);
const write = (name: string, text = "said") =>
  writeOutputFile({ path: path(name), programs: programs(), idlePipeMs: 50 }, text);
const programs = () => openHostPrograms({ path: "/usr/bin", home: path("home"), untrusted: [path("work")] });
const read = (name: string) => readFileSync(path(name), "utf8");

beforeEach(async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  base = directory.path;
  for (const name of ["work/docs", "home"]) mkdirSync(path(name), { recursive: true });
  writeFileSync(path("home/docs.txt"), "own");
});

test("a text replaces a longer one, makes a new file, and goes through links of the user", () => {
  writeFileSync(path("work/docs/a.txt"), "a longer text than before");
  symlinkSync("docs.txt", path("home/link.txt"));
  symlinkSync("work", path("linked"));
  for (const name of ["work/docs/a.txt", "work/b.txt", "home/link.txt", "linked/c.txt"]) {
    write(name);
    expect(read(name)).toBe("said");
  }
  emptyOutputFile({ path: path("work/docs/a.txt"), programs: programs() });
  expect(read("work/docs/a.txt")).toBe("");
});

test.each([
  ["the file", "../home/docs.txt", "message.txt", "message.txt"],
  ["the directory of the file", "../home", "out", "out/docs.txt"],
  ["a file that does not exist", "../home/new.txt", "new.txt", "new.txt"],
])("a text does not go through a link in the place of %s", (_, target, link, file) => {
  symlinkSync(target, path(`work/${link}`));
  expect(() => write(`work/${file}`)).toThrow(/ is a link in the workspace, and an agent may have made it/);
  expect(() => emptyOutputFile({ path: path(`work/${file}`), programs: programs() })).toThrow(/ is a link /);
  expect([read("home/docs.txt"), execFileSync("ls", [path("home")], { encoding: "utf8" })]).toEqual([
    "own",
    "docs.txt\n",
  ]);
});

/** Until it is killed. Renaming is the only step, so that there is always something. */
const swap = `
  symlink($ARGV[1], "$ARGV[0].link") or die;
  $| = 1; print "swapping\\n";
  while (1) { syscall($ARGV[2], -100, $ARGV[0], -100, "$ARGV[0].link", 2) }
`;
const exchange = process.arch === "x64" ? "316" : "276";

test("a text does not go through a directory that an agent exchanges for a link all the time", async () => {
  for (const name of ["work/docs/inner", "home/inner"]) mkdirSync(path(name));
  writeFileSync(path("home/inner/docs.txt"), "own");
  const agent = spawn("perl", ["-e", swap, path("work/docs"), path("home"), exchange]);
  onTestFinished(() => void agent.kill("SIGKILL"));
  await once(agent.stdout, "data");
  for (let count = 0; count < 300; count += 1)
    try {
      write("work/docs/inner/docs.txt");
    } catch (error) {
      expect((error as Error).message).toMatch(/ is a link /);
    }
  expect(read("home/inner/docs.txt")).toBe("own");
});

test("a pipe without a reader, or with one that does not read, keeps no program waiting, and one that is read gets all", async () => {
  execFileSync("mkfifo", [path("work/pipe")]);
  const text = "x".repeat(300_000);
  expect(() => write("work/pipe", text)).toThrow(
    "work/pipe is a pipe that no program reads. Remove it, or start its reader",
  );
  const idle = spawn("sh", ["-c", 'exec 3<>"$1"; echo ready; exec sleep 600', "sh", path("work/pipe")]);
  onTestFinished(() => void idle.kill("SIGKILL"));
  await once(idle.stdout, "data");
  expect(() => write("work/pipe", text)).toThrow(/work\/pipe took nothing for 0.05 s/);
  idle.kill("SIGKILL");
  await once(idle, "exit");
  const reader = spawn("sh", ["-c", 'exec 3<>"$1"; echo ready; head -c 300000 <&3 | wc -c', "sh", path("work/pipe")]);
  await once(reader.stdout, "data");
  const counted = once(reader.stdout, "data");
  writeOutputFile({ path: path("work/pipe"), programs: programs() }, text);
  expect(String(await counted).trim()).toBe("300000");
});

test("a socket is refused by name", () => {
  const listen = "use IO::Socket::UNIX; IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die";
  execFileSync("perl", ["-e", listen, path("work/socket")]);
  expect(() => write("work/socket")).toThrow("work/socket is a socket or a device that takes nothing");
});
