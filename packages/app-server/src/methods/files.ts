// fs/*: files of the machine the server runs on, with the rights of its user and outside any sandbox.
import { constants, type Dirent } from "node:fs";
import { cp, lstat, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invalidParams, invalidRequest, type OpenPart } from "../method.ts";
import { absolute, reaching } from "./paths.ts";
import { openWatches } from "./watches.ts";

export const openFiles: OpenPart = () => {
  const watches = openWatches();
  return {
    methods: {
      "fs/readFile": ({ path }) =>
        at(path, async (file) => ({ dataBase64: (await readWhole(file)).toString("base64") })),
      "fs/writeFile": ({ path, dataBase64 }) => at(path, (file) => write(file, bytesOf(dataBase64))),
      "fs/createDirectory": ({ path, recursive }) =>
        at(path, (file) => done(mkdir(file, { recursive: recursive ?? true }))),
      "fs/getMetadata": ({ path }) => at(path, describe),
      "fs/readDirectory": ({ path }) => at(path, async (directory) => ({ entries: await entriesOf(directory) })),
      "fs/remove": ({ path, recursive, force }) =>
        at(path, (file) => remove(file, { recursive: recursive ?? true, force: force ?? true })),
      "fs/copy": ({ sourcePath, destinationPath, recursive }) =>
        at(sourcePath, (source) => copy(source, absolute(destinationPath), { recursive: recursive ?? false })),
      "fs/watch": ({ watchId, path }, client) => at(path, (file) => watches.watch(watchId, file, client)),
      "fs/unwatch": ({ watchId }, client) => watches.unwatch(watchId, client),
    },
    close: async () => watches.close(),
  };
};

const at = <Result>(path: string, act: (path: string) => Promise<Result>): Promise<Result> =>
  reaching(path, () => act(absolute(path)));

async function done(work: Promise<unknown>): Promise<Record<string, never>> {
  await work;
  return {};
}

/** The maximum for one message: base64 adds a third. */
export const maxBytes = 32 * 1024 * 1024;
const pieceBytes = 256 * 1024;

/** Reads to the end: kernel files do not report their size. */
async function readWhole(path: string): Promise<Buffer> {
  // Does not block on a pipe or on a kernel file without data.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = onlyFiles(path, await handle.stat());
    const pieces: Buffer[] = [];
    for (let total = size > maxBytes ? size : 0; ; ) {
      if (total > maxBytes)
        throw invalidRequest(`${path}: it is larger than the ${maxBytes} bytes that can be read at once.`);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return Buffer.concat(pieces);
      pieces.push(buffer.subarray(0, bytesRead));
      total += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** A pipe or a device would accept the bytes and store nothing. */
async function write(path: string, bytes: Buffer): Promise<Record<string, never>> {
  const found = await stat(path).catch(() => null);
  if (found) onlyFiles(path, found);
  return done(writeFile(path, bytes));
}

function onlyFiles<Found extends { isFile(): boolean; isDirectory(): boolean }>(path: string, found: Found) {
  if (found.isFile()) return found;
  throw invalidRequest(
    `${path}: it is ${found.isDirectory() ? "a directory" : "a device, pipe or socket"}, not a file.`,
  );
}

function bytesOf(base64: string): Buffer {
  if (base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return Buffer.from(base64, "base64");
  throw invalidParams("dataBase64 is not base64.");
}

async function describe(path: string) {
  const own = await lstat(path);
  const isSymlink = own.isSymbolicLink();
  // A dangling link is neither a file nor a directory.
  const target = isSymlink ? await stat(path).catch(() => null) : own;
  return {
    isDirectory: target?.isDirectory() ?? false,
    isFile: target?.isFile() ?? false,
    isSymlink,
    createdAtMs: Math.floor(own.birthtimeMs),
    modifiedAtMs: Math.floor(own.mtimeMs),
  };
}

async function entriesOf(directory: string) {
  const entries = await readdir(directory, { withFileTypes: true });
  const kinds = await Promise.all(entries.map((entry) => kindOf(directory, entry)));
  return kinds.sort((one, other) => (one.fileName < other.fileName ? -1 : 1));
}

/** Of what a link leads to. */
async function kindOf(directory: string, entry: Dirent) {
  const found = entry.isSymbolicLink() ? await stat(join(directory, entry.name)).catch(() => null) : entry;
  return { fileName: entry.name, isDirectory: found?.isDirectory() ?? false, isFile: found?.isFile() ?? false };
}

async function remove(path: string, how: { recursive: boolean; force: boolean }): Promise<Record<string, never>> {
  if (path === "/") throw invalidRequest("/: the root of the file system is not removed.");
  return done(rm(path, how));
}

async function copy(source: string, destination: string, how: { recursive: boolean }): Promise<Record<string, never>> {
  const isDirectory = (await lstat(source)).isDirectory();
  if (isDirectory && !how.recursive) throw invalidRequest(`${source}: it is a directory; copy it with recursive.`);
  return reaching(destination, () => done(cp(source, destination, { ...how, verbatimSymlinks: true })));
}
