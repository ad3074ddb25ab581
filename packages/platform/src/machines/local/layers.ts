// Layers: directories that never change, each named by the digest of the archive it was unpacked from.
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import {
  collectDrafts,
  type LayerNotes,
  makeDraft,
  published,
  publishWritten,
  removeTree,
  run,
  type UnpackLayer,
  unpublish,
} from "../parts/index.ts";
import { MachineUnavailable } from "../provider.ts";
import { layerRange } from "./ids.ts";
import { enterAsRoot, openUserNamespace } from "./user-namespace.ts";

export interface Layers {
  /** Unpacks an archive; returns its digest. */
  unpack: UnpackLayer;
  /** The directory with the files; throws if there is no such layer. */
  path(digest: string): string;
  notes(digest: string): LayerNotes;
  /** Removes those that are not in the list and were not made since; returns how many. */
  removeOthers(digests: Set<string>, before: number): Promise<number>;
  collect(): Promise<void>;
}

export function openLayers(directory: string): Layers {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (digest: string) => join(directory, digest);
  function existing(digest: string): string {
    if (hasLayer(directory, digest)) return pathOf(digest);
    throw new MachineUnavailable(`There is no layer ${digest} on this host. Build or import it again.`);
  }
  return {
    async unpack(archive, notes) {
      const draft = makeDraft(directory, "layer");
      const tree = join(draft, "tree");
      mkdirSync(tree);
      chmodSync(tree, 0o755);
      const digest = await unpackInto(tree, archive).catch(async (error) => {
        await removeTree(draft);
        throw error;
      });
      writeFileSync(join(draft, "layer.json"), JSON.stringify(notes), { flush: true });
      if (!(await publishWritten(draft, pathOf(digest)))) touch(pathOf(digest));
      return digest;
    },
    path: (digest) => join(existing(digest), "tree"),
    notes: (digest) => JSON.parse(readFileSync(join(existing(digest), "layer.json"), "utf8")) as LayerNotes,
    async removeOthers(digests, before) {
      const isUnused = (digest: string) => !digests.has(digest) && statSync(pathOf(digest)).mtimeMs < before;
      const unused = published(directory).filter(isUnused);
      for (const digest of unused) await unpublish(directory, digest);
      return unused.length;
    },
    collect: () => collectDrafts(directory),
  };
}

/** In a directory of layers. */
export const hasLayer = (directory: string, digest: string): boolean =>
  /^sha256-[0-9a-f]{64}$/.test(digest) && existsSync(join(directory, digest));

/** Used again just now. */
const touch = (path: string) => utimesSync(path, new Date(), new Date());

/** As root of a user namespace: the archive cannot make a device or a file of the host's root. */
async function unpackInto(tree: string, archive: Readable): Promise<string> {
  if (process.geteuid?.() !== 0) return unpackWith([], tree, archive);
  chownSync(tree, layerRange, layerRange);
  const namespace = await openUserNamespace(0, layerRange);
  try {
    return await unpackWith(enterAsRoot(namespace, []), tree, archive);
  } finally {
    namespace.close();
  }
}

/** Device files of /dev are left out: every machine gets its own. */
async function unpackWith(prefix: string[], tree: string, archive: Readable): Promise<string> {
  const owners = process.geteuid?.() === 0 ? ["--same-owner"] : ["--no-same-owner"];
  const tar = ["tar", "--extract", "--file=-", "--numeric-owner", ...owners, "--preserve-permissions"];
  const options = ["--delay-directory-restore", "--xattrs", "--xattrs-include=user.overlay.*"];
  const left = ["--exclude=./dev/*", "--exclude=dev/*"];
  let copied = Promise.resolve("");
  await run([...prefix, ...tar, ...options, ...left], {
    cwd: tree,
    attach({ stdin, stdout }) {
      stdout?.resume();
      if (stdin) copied = copyArchive(archive, stdin);
      copied.catch(() => {});
    },
  });
  return `sha256-${await copied}`;
}

/** Returns the digest of all bytes. tar does not read to the end, and takes an archive that ends early for a short one. */
async function copyArchive(archive: Readable, stdin: Writable): Promise<string> {
  const hash = createHash("sha256");
  let tail: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of archive) {
      hash.update(chunk);
      tail = Buffer.concat([tail, chunk]).subarray(-endBytes);
      if (!stdin.writable || stdin.write(chunk)) continue;
      await awaitRoom(stdin);
    }
  } finally {
    stdin.end();
  }
  if (tail.length === endBytes && tail.every((byte) => byte === 0)) return hash.digest("hex");
  throw new MachineUnavailable("The archive is incomplete: it must end with two empty blocks, as every tar file does.");
}

function awaitRoom(stdin: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stdin.off("drain", settle).off("close", settle);
      resolve();
    };
    stdin.once("drain", settle).once("close", settle);
  });
}

/** Two blocks. */
const endBytes = 1024;
