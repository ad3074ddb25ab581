// Layers as Docker knows them: archives named by their digest, stacked into images when a machine needs the stack.
import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
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
import type { Engine } from "./engine.ts";

export interface DockerLayers {
  unpack: UnpackLayer;
  notes(digest: string): LayerNotes;
  /** The id of the image with these layers, top first; it is made if the daemon does not have it. */
  imageOf(digests: string[]): Promise<string>;
  /** Keeps the layers of an image that the daemon has; returns them, top first. */
  keep(image: string): Promise<string[]>;
  /** Of the image with these layers; null if the daemon does not have it. */
  sizeOf(digests: string[]): Promise<number | null>;
  removeOthers(digests: Set<string>, before: number): Promise<number>;
  collect(): Promise<void>;
}

/** `owner` marks the images of this provider. */
export function openDockerLayers(engine: Engine, directory: string, owner: string): DockerLayers {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (digest: string) => join(directory, digest);
  const check = (digest: string) => {
    if (/^sha256-[0-9a-f]{64}$/.test(digest) && existsSync(pathOf(digest))) return pathOf(digest);
    throw new MachineUnavailable(`There is no layer ${digest} on this host. Build or import it again.`);
  };
  const publishLayer = async (draft: string, digest: string, notes: LayerNotes) => {
    writeFileSync(join(draft, "layer.json"), JSON.stringify(notes), { flush: true });
    if (!(await publishWritten(draft, pathOf(digest)))) utimesSync(pathOf(digest), new Date(), new Date());
    return digest;
  };
  return {
    async unpack(archive, notes) {
      const draft = makeDraft(directory, "layer");
      try {
        return await publishLayer(draft, await store(archive, join(draft, archiveName)), notes);
      } catch (error) {
        await removeTree(draft);
        throw error;
      }
    },
    notes: (digest) => JSON.parse(readFileSync(join(check(digest), "layer.json"), "utf8")) as LayerNotes,
    imageOf: (digests) =>
      composeImage(
        { engine, directory, owner },
        digests.map(check).map((path) => basename(path)),
      ),
    async keep(image) {
      const found = await engine.call<{ RootFS: { Layers: string[] } }>("GET", `/images/${image}/json`);
      const digests = (found?.RootFS.Layers ?? []).map((digest) => digest.replace(":", "-")).toReversed();
      for (const digest of digests)
        if (!existsSync(pathOf(digest))) await publishLayer(makeDraft(directory, "layer"), digest, { hostPaths: [] });
      await composeImage({ engine, directory, owner }, digests);
      return digests;
    },
    async sizeOf(digests) {
      const { id } = imageConfig(digests, owner);
      return (await engine.call<{ Size: number }>("GET", `/images/sha256:${id}/json`))?.Size ?? null;
    },
    async removeOthers(digests, before) {
      const isUnused = (digest: string) => !digests.has(digest) && statSync(pathOf(digest)).mtimeMs < before;
      const unused = published(directory).filter(isUnused);
      for (const digest of unused) await unpublish(directory, digest);
      await removeImages({ engine, owner, before }, new Set(published(directory)));
      return unused.length;
    },
    collect: () => collectDrafts(directory),
  };
}

const archiveName = "layer.tar";

/** Returns the digest. */
async function store(archive: Readable, path: string): Promise<string> {
  const hash = createHash("sha256");
  let tail: Buffer = Buffer.alloc(0);
  const watched = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk);
      tail = Buffer.concat([tail, chunk]).subarray(-1024);
      yield chunk;
    }
  };
  await pipeline(archive, watched, createWriteStream(path, { mode: 0o600 }));
  if (tail.length === 1024 && tail.every((byte) => byte === 0)) return `sha256-${hash.digest("hex")}`;
  throw new MachineUnavailable("The archive is incomplete: it must end with two empty blocks, as every tar file does.");
}

interface ComposeContext {
  engine: Engine;
  directory: string;
  owner: string;
}

/** The same layers give the same image. Layers that the daemon has in this order are not sent. */
async function composeImage({ engine, directory, owner }: ComposeContext, digests: string[]): Promise<string> {
  const { config, id } = imageConfig(digests, owner);
  if ((await engine.call("GET", `/images/sha256:${id}/json`)) !== null) return `sha256:${id}`;
  const draft = makeDraft(directory, "image");
  try {
    const files = digests.toReversed().map((digest) => `${digest}/${archiveName}`);
    const manifest = [{ Config: `${id}.json`, RepoTags: [`agentcli-${owner}:${id}`], Layers: files }];
    writeFileSync(join(draft, "manifest.json"), JSON.stringify(manifest));
    writeFileSync(join(draft, `${id}.json`), config);
    const sent = [...new Set(files)].filter((file) => existsSync(join(directory, file)));
    await load(engine, ["--directory", draft, "manifest.json", `${id}.json`, "--directory", directory, ...sent]);
  } finally {
    await removeTree(draft);
  }
  if ((await engine.call("GET", `/images/sha256:${id}/json`)) !== null) return `sha256:${id}`;
  throw new MachineUnavailable(
    `The Docker daemon does not have all layers of ${digests.join(", ")} any more. Build or import them again.`,
  );
}

async function load(engine: Engine, entries: string[]): Promise<void> {
  const archive = new PassThrough();
  const loaded = engine.upload("/images/load?quiet=1", archive);
  loaded.catch(() => archive.resume());
  await run(["tar", "--create", "--file=-", ...entries], { attach: (child) => void child.stdout?.pipe(archive) });
  await loaded;
}

function imageConfig(digests: string[], owner: string) {
  const config = JSON.stringify(configOf(digests, owner));
  return { config, id: createHash("sha256").update(config).digest("hex") };
}

const configOf = (digests: string[], owner: string) => ({
  architecture: process.arch === "x64" ? "amd64" : process.arch,
  os: "linux",
  created: "1970-01-01T00:00:00Z",
  config: { Labels: { [ownerLabel]: owner, [layersLabel]: digests.join(" ") } },
  rootfs: { type: "layers", diff_ids: digests.toReversed().map((digest) => digest.replace("-", ":")) },
  history: [],
});

export const ownerLabel = "agentcli.owner";
const layersLabel = "agentcli.layers";
/** The machine whose disk an image has: a part of it, below its container. */
export const machineLabel = "agentcli.machine";

interface FoundImage {
  Id: string;
  /** Seconds. */
  Created: number;
  Labels: Record<string, string> | null;
  RepoTags: string[] | null;
}

/** The youngest first: each may be below the one before it. */
async function listImages(engine: Engine, label: string): Promise<FoundImage[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const images = (await engine.call<FoundImage[]>("GET", `/images/json?filters=${filters}`)) ?? [];
  return images.toSorted((one, other) => other.Created - one.Created);
}

/** Refused for one that a container or another image uses: it stays. */
const removeImage = (engine: Engine, { Id }: FoundImage) => engine.call("DELETE", `/images/${Id}`).catch(() => {});

interface RemovalContext {
  engine: Engine;
  owner: string;
  before: number;
}

/** Those with a layer that is gone, and disks that no container has. */
async function removeImages({ engine, owner, before }: RemovalContext, kept: Set<string>): Promise<void> {
  for (const image of await listImages(engine, `${ownerLabel}=${owner}`)) {
    const layers = image.Labels?.[layersLabel]?.split(" ") ?? [];
    const isNamed = image.RepoTags?.some((tag) => !tag.startsWith("<none>")) ?? false;
    const isDisk = !isNamed && image.Created * 1_000 < before;
    if (isDisk || !layers.every((digest) => kept.has(digest))) await removeImage(engine, image);
  }
}

/** What was the disk of these machines, as far as no container has it. */
export async function removeDiskImages(
  engine: Engine,
  owner: string,
  isRemoved: (machineId: string) => boolean,
): Promise<void> {
  for (const image of await listImages(engine, `${ownerLabel}=${owner}`)) {
    const id = image.Labels?.[machineLabel];
    if (id !== undefined && isRemoved(id)) await removeImage(engine, image);
  }
}
