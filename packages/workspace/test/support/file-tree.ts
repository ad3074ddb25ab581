// Real directories for tests: created from a table, and read back into a table.
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Content by path. A path ending in `/` is an empty directory; `{link}` a symlink; `{mode}` sets the bits. */
export type Tree = Record<string, string | Buffer | { link: string } | { content: string; mode: number }>;

export async function makeTree(tree: Tree): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tree-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await fillTree(root, tree);
  return root;
}

export async function fillTree(root: string, tree: Tree): Promise<void> {
  for (const [path, value] of Object.entries(tree)) {
    const at = join(root, path);
    await mkdir(path.endsWith("/") ? at : dirname(at), { recursive: true });
    if (path.endsWith("/")) continue;
    if (typeof value === "string" || Buffer.isBuffer(value)) await writeFile(at, value);
    else if ("link" in value) await symlink(value.link, at);
    else {
      await writeFile(at, value.content);
      await chmod(at, value.mode);
    }
  }
}

/** Text of every file by path, symlinks as `-> target`, empty directories with a slash at the end. */
export async function readTree(root: string): Promise<Record<string, string>> {
  const found = await snapshot(root);
  const parents = new Set(Object.keys(found).map((path) => `${dirname(path)}/`));
  const entries = Object.entries(found).filter(([path]) => !parents.has(path));
  return Object.fromEntries(entries.map(([path, { content }]) => [path, Buffer.from(content, "latin1").toString()]));
}

/** Everything that must stay as it was when a patch fails: names, kinds, modes and bytes. */
export async function snapshot(root: string, prefix = ""): Promise<Record<string, { mode: number; content: string }>> {
  const found: Record<string, { mode: number; content: string }> = {};
  for (const name of (await readdir(join(root, prefix))).sort()) {
    const path = join(prefix, name);
    const { mode, ...entry } = await readEntry(join(root, path));
    found[entry.directory ? `${path}/` : path] = { mode, content: entry.content };
    if (entry.directory) Object.assign(found, await snapshot(root, path));
  }
  return found;
}

async function readEntry(at: string) {
  const stat = await lstat(at);
  const entry = { mode: stat.mode, directory: stat.isDirectory(), content: "" };
  if (stat.isSymbolicLink()) return { ...entry, content: `-> ${await readlink(at)}` };
  return stat.isFile() ? { ...entry, content: await readFile(at, "latin1") } : entry;
}
