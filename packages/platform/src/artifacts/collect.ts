// Takes the files an agent has left for people into sealed storage. Nothing of the agent runs meanwhile.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Platform } from "../platform.ts";
import type { Artifacts } from "../runs/index.ts";
import { listArtifacts, type Owner, storeArtifact } from "./store.ts";

const mostFiles = 1_000;
const largestFileBytes = 200 * 1024 * 1024;

export function openArtifacts(platform: Platform): Artifacts {
  const { log, settings } = platform;
  const orLogged = async (agentId: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) => log.error("artifacts could not be kept", error, { agentId }));
  };
  return {
    collect: (owner, from) =>
      orLogged(owner.agent.id, async () => {
        const left = await collectFiles(owner, from, platform);
        if (left > 0) log.warn("artifacts left out", { agentId: owner.agent.id, count: left });
      }),
    keep: (owner, name, content) => orLogged(owner.agent.id, () => keepNamed(owner, name, content, platform)),
    removeAll: (agentId) =>
      orLogged(agentId, () =>
        rm(artifactsDirectory(settings.dataDirectory, agentId), { recursive: true, force: true }),
      ),
  };
}

/** Answers with how many had to be left out. */
async function collectFiles(owner: Owner, from: string, platform: Platform): Promise<number> {
  const files = await regularFiles(from);
  const former = new Map((await listArtifacts(platform.db, owner)).map(({ path, blob }) => [path, blob]));
  let left = Math.max(0, files.length - mostFiles);
  for (const name of files.slice(0, mostFiles)) {
    const content = await readRegular(join(from, name));
    if (!content) {
      left += 1;
      continue;
    }
    const path = `artifacts/${name}`;
    await keepFile(owner, { path, content, former: former.get(path) ?? null }, platform);
    await rm(join(from, name), { force: true });
  }
  return left;
}

async function keepNamed(owner: Owner, name: string, content: Buffer, platform: Platform): Promise<void> {
  const path = `artifacts/${name}`;
  const known = (await listArtifacts(platform.db, owner)).find((artifact) => artifact.path === path);
  await keepFile(owner, { path, content, former: known?.blob ?? null }, platform);
}

interface KeptFile {
  path: string;
  content: Buffer;
  /** The sealed file that had this path. */
  former: string | null;
}

async function keepFile(owner: Owner, { path, content, former }: KeptFile, { db, settings }: Platform): Promise<void> {
  const { agent, key } = owner;
  const to = artifactsDirectory(settings.dataDirectory, agent.id);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const blob = randomUUID();
  await writeFile(join(to, blob), key.seal(content, artifactPlace(agent.id, blob)), { mode: 0o600 });
  await storeArtifact(db, owner, { path, sizeBytes: content.length, blob, former });
  if (former) await rm(join(to, former), { force: true });
}

/** A link could lead to what the agent itself may not read. */
async function readRegular(path: string): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!file) return null;
  try {
    const stats = await file.stat();
    return stats.isFile() && stats.size <= largestFileBytes ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}

async function regularFiles(directory: string, prefix = ""): Promise<string[]> {
  const entries = await readdir(join(directory, prefix), { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map((entry) => {
      const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) return regularFiles(directory, path);
      return entry.isFile() ? [path] : [];
    }),
  );
  return found.flat().sort();
}

export const artifactPlace = (agentId: string, blob: string): string => `artifact:${agentId}:${blob}`;
export const artifactsDirectory = (dataDirectory: string, agentId: string): string =>
  join(dataDirectory, "artifacts", agentId);
