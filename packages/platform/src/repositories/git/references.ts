// Reads and writes references by their exact names, of git directories that only the host writes.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runGit } from "./run.ts";

/** Of more, one process of git takes less time than this one. */
const maxNames = 200;

/**
 * The objects that references with these full names point to; names that are not there, or that git does not allow, are left
 * out. Loose ones come first: git writes packed-refs before it removes them.
 */
export async function readReferences(directory: string, names: string[]): Promise<Map<string, string>> {
  if (names.length > maxNames) return listReferences(directory, new Set(names));
  const allowed = names.filter(isAllowed);
  const loose = await Promise.all(allowed.map((name) => readObjectName(join(directory, name))));
  const packed = loose.includes(null) ? ((await readIfThere(join(directory, "packed-refs"))) ?? "") : "";
  const found = allowed.map((name, index) => [name, loose[index] ?? packedObject(packed, name)] as const);
  return new Map(found.flatMap(([name, object]) => (object === null ? [] : [[name, object]])));
}

async function listReferences(directory: string, names: Set<string>): Promise<Map<string, string>> {
  const text = await runGit({ location: { directory }, args: ["for-each-ref", "--format=%(refname) %(objectname)"] });
  const lines = text.split("\n").map((line) => line.split(" "));
  return new Map(lines.flatMap(([name = "", object = ""]) => (names.has(name) ? [[name, object]] : [])));
}

/** Callers may pass what users wrote, so no part may lead elsewhere. */
const isAllowed = (name: string): boolean =>
  name.startsWith("refs/") &&
  Buffer.byteLength(name) <= 1_000 &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name) &&
  name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));

const readObjectName = async (path: string): Promise<string | null> =>
  /^[0-9a-f]{40,64}(?=\n)/.exec((await readIfThere(path)) ?? "")?.[0] ?? null;

function packedObject(text: string, name: string): string | null {
  const end = text.indexOf(` ${name}\n`);
  return end < 0 ? null : text.slice(text.lastIndexOf("\n", end) + 1, end);
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
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
