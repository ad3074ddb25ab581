// The layer for machines without an image: directories and links to mount the programs of the host on, and files for users and
// hosts. Nothing of the host's own /etc beyond the list of system paths.
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { loadMachineParts } from "@agentcli/workspace";
import { makeTemporaryDirectory } from "../../foundation/index.ts";
import { run } from "./command.ts";

export interface LayerNotes {
  /** System paths of the host that are shown read-only on top. */
  hostPaths: string[];
}

/** Unpacks an archive as a layer; returns its digest. */
export type UnpackLayer = (archive: Readable, notes: LayerNotes) => Promise<string>;

const directories = ["dev", "proc", "sys", "tmp", "run", "root", "home", "opt", "srv", "mnt", "workspace"];
const stateDirectories = ["var/tmp", "var/lib", "var/cache", "var/log", "etc", "usr"];

/** Returns its digest; the same host gives the same layer. */
export async function importHostBase(unpack: UnpackLayer): Promise<string> {
  const { existingSystemPaths, generatedFiles } = await loadMachineParts();
  const tree = await makeTemporaryDirectory("host-base");
  try {
    for (const name of [...directories, ...stateDirectories]) await mkdir(join(tree, name), { recursive: true });
    const hostPaths = [];
    for (const path of existingSystemPaths()) if (await addSystemPath(tree, path)) hostPaths.push(path);
    for (const { path, content } of generatedFiles({ userId: 0, home: "/root" }))
      await writeFile(join(tree, path), content);
    return await packInto(unpack, tree, hostPaths);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** True if it is to be mounted; a link stays a link. */
async function addSystemPath(tree: string, path: string): Promise<boolean> {
  const point = join(tree, path);
  await mkdir(dirname(point), { recursive: true });
  if (lstatSync(path).isSymbolicLink() && (await isShown(realpathSync(path)))) {
    await symlink(readlinkSync(path), point);
    return false;
  }
  if (lstatSync(realpathSync(path)).isDirectory()) await mkdir(point, { recursive: true });
  else await writeFile(point, "");
  return true;
}

const isShown = async (path: string) => (await loadMachineParts()).findSystemPath(path) !== undefined;

/** With fixed times and owners, so that the digest depends on the content only. */
async function packInto(unpack: UnpackLayer, tree: string, hostPaths: string[]): Promise<string> {
  const archive = new PassThrough();
  const unpacked = unpack(archive, { hostPaths });
  const fixed = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const packed = run(["tar", "--create", "--file=-", ...fixed, "."], {
    cwd: tree,
    attach: (child) => void child.stdout?.pipe(archive),
  });
  const [digest] = await Promise.all([unpacked, packed]);
  return digest;
}
