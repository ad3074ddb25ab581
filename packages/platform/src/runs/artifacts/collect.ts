// Moves the files an agent produced for users into sealed storage. No process of the agent runs meanwhile.
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { unlink } from "node:fs/promises";
import { type Scrub, scrubber, secretFinder } from "@agentcli/engine";
import type { UnsavedArtifact } from "@agentcli/protocol/api";
import { openFile, type PlatformContext, pathTo, type TreeEntry, walk } from "../../foundation/index.ts";
import { recordedSecrets } from "../../secrets/index.ts";
import type { ArtifactOwner, Artifacts } from "../execution/artifacts.ts";
import { agentLimits } from "../execution/sandbox/index.ts";
import { runtimeSecrets } from "../execution/secrets.ts";
import { artifactKey, removeArtifacts, removeEverywhere } from "./objects.ts";
import { listArtifacts, type StoredArtifact, storeArtifact } from "./store.ts";
import { aboveTotal, namedAfterSecret, notStored, recordUnsaved, unsaved, withSecret } from "./unsaved.ts";

const maxFiles = 1_000;
const maxFileBytes = 200 * 1024 * 1024;

export function openArtifacts(platform: PlatformContext): Artifacts {
  const { log, objects } = platform;
  const orLogged = async (agentId: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) => log.error("artifacts could not be saved", error, { agentId }));
  };
  return {
    collect: (owner, from) =>
      orLogged(owner.agent.id, async () => {
        const left = await collectFiles(owner, from, platform);
        if (left.length === 0) return;
        await recordUnsaved(platform.db, { runId: owner.run.id, key: owner.key }, left);
        log.warn("artifacts left out", { agentId: owner.agent.id, runId: owner.run.id, count: left.length });
      }),
    store: (owner, name, content) => orLogged(owner.agent.id, () => storeNamed(owner, name, content, platform)),
    removeAll: (directory) => orLogged(directory, () => removeArtifacts(objects, directory)),
  };
}

/** Stores what it can, and returns the rest, by names that show no secret. */
export async function collectFiles(
  owner: ArtifactOwner,
  from: string,
  platform: PlatformContext,
): Promise<UnsavedArtifact[]> {
  // Most runs leave no file.
  let opened: Promise<Collection> | undefined;
  const open = () => {
    opened ??= openCollection(owner, platform);
    return opened;
  };
  const left: UnsavedArtifact[] = [];
  let files = 0;
  for await (const visit of walk(from, { access: "write", order: (names) => names.sort(Buffer.compare) })) {
    const name = pathTo(visit.entry);
    const path = pathOf(name.toString());
    if (visit.kind === "unread") left.push(unsaved(path.endsWith("/") ? path : `${path}/`, "failed"));
    if (visit.kind !== "entry" || !visit.entry.stats.isFile()) continue;
    files += 1;
    const obstacle = obstacleTo(visit.entry, { name, number: files });
    if (obstacle) left.push(unsaved(path, obstacle));
    // One entry stands for all that follow: their names alone could fill the database.
    if (obstacle === "too_many") break;
    if (obstacle) continue;
    const { former, admit, findSecret } = await open();
    const named = findSecret(path);
    if (named) {
      left.push(namedAfterSecret(path, named));
      continue;
    }
    const aboveBytes = admit(path, visit.entry.stats.size);
    if (aboveBytes !== null) {
      left.push(aboveTotal(path, aboveBytes));
      continue;
    }
    try {
      const content = await readRegular(visit.entry);
      const secret = findSecret(content.toString());
      if (secret) {
        left.push(withSecret(path, secret));
        continue;
      }
      await storeFile(owner, { path, content, former: former.get(path) ?? null }, platform);
      await unlink(visit.entry.address);
    } catch (error) {
      platform.log.error("artifact could not be saved", error, { agentId: owner.agent.id });
      left.push(notStored(path, error));
    }
  }
  if (left.some(({ reason }) => reason === "storage_full")) await platform.storage.check();
  if (left.length === 0) return [];
  const { scrub } = await open();
  return left.map((one) => ({ ...one, path: scrub(one.path) }));
}

interface Collection {
  /** The sealed files stored before, by path. */
  former: Map<string, string>;
  admit: ReturnType<typeof totalLimit>;
  findSecret: ReturnType<typeof secretFinder>;
  scrub: Scrub;
}

async function openCollection(owner: ArtifactOwner, platform: PlatformContext): Promise<Collection> {
  const stored = await listArtifacts(platform.db, owner);
  const secrets = runtimeSecrets(await recordedSecrets(platform.db, owner));
  return {
    former: new Map(stored.map(({ path, blob }) => [path, blob])),
    admit: totalLimit(platform, stored),
    findSecret: secretFinder(secrets),
    scrub: scrubber(secrets),
  };
}

/**
 * Artifacts leave the directory that the disk limit of the agent measures, where a file with many names counts once. The
 * returned function counts a file, or returns the limit that it would exceed.
 */
function totalLimit({ settings }: PlatformContext, stored: StoredArtifact[]) {
  const { diskBytes } = agentLimits(settings);
  const sizes = new Map(stored.map(({ path, sizeBytes }) => [path, sizeBytes]));
  let total = stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return (path: string, size: number): number | null => {
    const next = total - (sizes.get(path) ?? 0) + size;
    if (diskBytes !== null && next > diskBytes) return diskBytes;
    total = next;
    return null;
  };
}

function obstacleTo({ stats }: TreeEntry, { name, number }: { name: Buffer; number: number }) {
  if (number > maxFiles) return "too_many";
  if (stats.size > maxFileBytes) return "too_large";
  // As text it could be the name of another file.
  return isUtf8(name) ? null : "failed";
}

const pathOf = (name: string): string => `artifacts/${name}`;

async function storeNamed(
  owner: ArtifactOwner,
  name: string,
  content: Buffer,
  platform: PlatformContext,
): Promise<void> {
  const path = pathOf(name);
  const existing = (await listArtifacts(platform.db, owner)).find((artifact) => artifact.path === path);
  await storeFile(owner, { path, content, former: existing?.blob ?? null }, platform);
}

interface NewFile {
  path: string;
  content: Buffer;
  /** The sealed file previously stored for this path. */
  former: string | null;
}

async function storeFile(
  owner: ArtifactOwner,
  { path, content, former }: NewFile,
  { db, objects }: PlatformContext,
): Promise<void> {
  const { agent, key } = owner;
  const blob = randomUUID();
  const objectKey = artifactKey(agent.directory, blob);
  try {
    await objects.store.put(objectKey, key.seal(content, artifactAad(agent.id, blob)));
    await storeArtifact(db, owner, { path, sizeBytes: content.length, blob, former });
  } catch (error) {
    // It would take the space that others need. The first error counts.
    await objects.store.remove([objectKey]).catch(() => {});
    throw error;
  }
  if (former) await removeEverywhere(objects, [artifactKey(agent.directory, former)]);
}

/** Does not follow symbolic links: the target may be a file the agent may not read. */
async function readRegular(entry: TreeEntry): Promise<Buffer> {
  const file = await openFile(entry);
  if (file === null) throw new Error("The file could not be opened.");
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export const artifactAad = (agentId: string, blob: string): string => `artifact:${agentId}:${blob}`;
