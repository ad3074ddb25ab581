// Makes the files of a hostile agent in a data directory, then measures, lists and removes them; prints what it found.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { measure, openFile, removeTree } from "../../src/foundation/files/index.ts";
import { openDirectory } from "../../src/foundation/files/open.ts";
import { type LeftOut, listFiles } from "../../src/operations/backup/files.ts";

const [dataDirectory = "", operatorDirectory = ""] = process.argv.slice(2);
const agent = join(dataDirectory, "workspaces/agent");
const content = Buffer.alloc(1024 ** 2, "x");

/** Each way to hide a mebibyte from a walk by paths. */
const makers: Record<string, () => void> = {
  "a name that is not UTF-8": () => writeFileSync(Buffer.from(`${agent}/\xff\xfe`, "latin1"), content),
  "a path that is too long for the kernel": () => nest("a".repeat(200), 30),
  "a directory without permissions": () => makeLocked("locked", 0),
  "a directory that can be listed, but not entered": () => makeLocked("listed", 0o400),
  "a directory without permission to write": () => makeLocked("read-only", 0o500),
  "a file without permissions": () => writeFileSync(join(agent, "unreadable"), content, { mode: 0 }),
  "a file with a hole": () => {
    writeFileSync(join(agent, "hole"), "");
    truncateSync(join(agent, "hole"), content.length);
  },
  "a link to a directory of the operator, which has no permissions": () =>
    symlinkSync(operatorDirectory, join(agent, "link")),
  "more directories than a process can open files": () => nest("b", 300),
  "two names of one file": () => {
    writeFileSync(join(agent, "first"), content);
    linkSync(join(agent, "first"), join(agent, "second"));
  },
};

function makeLocked(name: string, mode: number): void {
  mkdirSync(join(agent, name));
  writeFileSync(join(agent, name, "file"), content);
  chmodSync(join(agent, name), mode);
}

/** By relative names: the path is longer than any call accepts. */
function nest(name: string, depth: number): void {
  const script = `for (1..${depth}) { mkdir "${name}" or die $!; chdir "${name}" or die $! } open F, ">", "file" or die $!; print F "x" x ${content.length}; close F`;
  execFileSync("perl", ["-e", script], { cwd: agent });
}

async function list() {
  const leftOut: LeftOut[] = [];
  const files: Record<string, number | undefined> = {};
  const listing = { dataDirectory, kekFile: "/kek", keys: "all" } as const;
  for await (const { section, entry } of listFiles(listing, (file) => leftOut.push(file))) {
    if (section.kind !== "file") continue;
    const file = await openFile(entry);
    files[section.path.slice("workspaces/agent/".length)] = (await file?.readFile())?.length;
    await file?.close();
  }
  return { files, leftOut };
}

/** A directory without permissions that becomes a link after the walk has found it. */
async function openReplaced(): Promise<void> {
  const path = join(agent, "locked");
  chmodSync(path, 0);
  const found = { stats: lstatSync(path), address: Buffer.from(path) };
  renameSync(path, `${path}-former`);
  symlinkSync(operatorDirectory, path);
  await (await openDirectory(found, "read"))?.close();
}

/** Without descriptors no user can open directories. */
async function listWithDescriptors(count: number) {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // The limit of the process.
  }
  for (const descriptor of taken.splice(0, count)) closeSync(descriptor);
  try {
    return await list();
  } catch (error) {
    return String(error);
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}

mkdirSync(agent, { recursive: true });
const added: Record<string, number> = {};
for (const [name, make] of Object.entries(makers)) {
  const before = await measure(agent);
  make();
  added[name] = (await measure(agent)) - before;
}
const { files, leftOut } = await list();
const unreadable = { dataDirectory: await listWithDescriptors(0), workspaces: await listWithDescriptors(2) };
const openFiles = readdirSync("/proc/self/fd").length;
await openReplaced();
const operatorMode = lstatSync(operatorDirectory).mode & 0o777;
await removeTree(agent);
const isRemoved = !existsSync(agent);
process.stdout.write(JSON.stringify({ added, files, leftOut, unreadable, openFiles, operatorMode, isRemoved }));
