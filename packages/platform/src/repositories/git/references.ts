// Reads and writes references, of git directories that only the host writes.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runGit } from "./run.ts";

/**
 * Of more, one process of git takes less time than this one. They are read synchronously: 8 µs each, and asynchronously 70.
 */
const maxFiles = 1_000;

/**
 * The objects that references with these full names point to; names that are not there, or that git does not allow, are left
 * out. Loose ones come first: git writes packed-refs before it removes them.
 */
export async function readReferences(directory: string, names: string[]): Promise<Map<string, string>> {
  if (names.length > maxFiles) return onlyThese(await askGitFor(directory, []), new Set(names));
  const allowed = names.filter(isAllowed);
  const loose = allowed.map((name) => readObjectName(join(directory, name)));
  const packed = loose.includes(null) ? readPacked(directory) : "";
  const found = allowed.map((name, index) => [name, loose[index] ?? packedObject(packed, name)] as const);
  return new Map(found.flatMap(([name, object]) => (object === null ? [] : [[name, object]])));
}

const onlyThese = (references: Map<string, string>, names: Set<string>): Map<string, string> =>
  new Map([...references].filter(([name]) => names.has(name)));

/** All references below these, such as `refs/heads`, by their full names. */
export async function listReferences(directory: string, parents: string[]): Promise<Map<string, string>> {
  const loose = listLoose(directory, parents);
  if (loose === null) return askGitFor(directory, parents);
  const isWanted = (name: string) => parents.some((parent) => name.startsWith(`${parent}/`));
  const packed = [...readPacked(directory).matchAll(/^([0-9a-f]{40,64}) (refs\/.+)$/gm)].map(
    ([, object = "", name = ""]) => [name, object] as const,
  );
  return new Map([...packed.filter(([name]) => isWanted(name)), ...loose]);
}

/** Null where there are many, or one that has to be resolved or is not text. */
function listLoose(directory: string, parents: string[]): Map<string, string> | null {
  const loose = new Map<string, string>();
  const open = [...parents];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop())
    for (const entry of readDirectory(join(directory, parent))) {
      const name = `${parent}/${entry.name}`;
      if (entry.isDirectory()) open.push(name);
      else if (isAllowed(name)) {
        const text = readIfThere(join(directory, name)) ?? "";
        if (loose.size === maxFiles || text.startsWith("ref:") || name.includes("\uFFFD")) return null;
        const object = objectNameIn(text);
        if (object !== null) loose.set(name, object);
      }
    }
  return loose;
}

async function askGitFor(directory: string, parents: string[]): Promise<Map<string, string>> {
  const args = ["for-each-ref", "--format=%(refname) %(objectname)", ...parents];
  const text = await runGit({ location: { directory }, args });
  const lines = text.split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}

/** Callers may pass what users wrote, so no part may lead elsewhere. */
const isAllowed = (name: string): boolean =>
  name.startsWith("refs/") &&
  Buffer.byteLength(name) <= 1_000 &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name) &&
  name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));

const readObjectName = (path: string): string | null => objectNameIn(readIfThere(path) ?? "");

const objectNameIn = (text: string): string | null => /^[0-9a-f]{40,64}(?=\n)/.exec(text)?.[0] ?? null;

const readPacked = (directory: string): string => readIfThere(join(directory, "packed-refs")) ?? "";

function packedObject(text: string, name: string): string | null {
  const end = text.indexOf(` ${name}\n`);
  return end < 0 ? null : text.slice(text.lastIndexOf("\n", end) + 1, end);
}

const readIfThere = (path: string): string | null => unlessAbsent(() => readFileSync(path, "utf8"));

const readDirectory = (path: string) => unlessAbsent(() => readdirSync(path, { withFileTypes: true })) ?? [];

function unlessAbsent<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR|EISDIR|ENAMETOOLONG)$/.test((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/**
 * Whatever it is now. Without a lock, which a killed server would leave behind: only for references that nothing removes or
 * packs, and of which no other has a part of the name.
 */
export async function writeReference(directory: string, name: string, object: string): Promise<void> {
  const path = join(directory, name);
  const draft = join(directory, `reference-${randomUUID()}`);
  await Promise.all([
    mkdir(dirname(path), { recursive: true }),
    writeFile(draft, `${object}\n`, { flag: "wx", flush: true }),
  ]);
  await rename(draft, path);
}
