// Takes the files an agent has left for people into sealed storage. Nothing of the agent runs meanwhile.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import type { Platform } from "../platform.ts";
import type { DataKey } from "../vault/index.ts";

/** For runs that end: trouble with artifacts is told to the log and to nobody else. */
export function artifactKeeper({ db, log, settings }: Platform) {
  return async ({ agent, key }: { agent: { id: string }; key: DataKey }, from: string): Promise<void> => {
    try {
      const to = artifactsDirectory(settings.dataDirectory, agent.id);
      const left = await collectArtifacts({ db, key, agentId: agent.id, from, to });
      if (left.length > 0) log.warn("artifacts left out", { agentId: agent.id, count: left.length });
    } catch (error) {
      log.error("artifacts could not be kept", error, { agentId: agent.id });
    }
  };
}

interface Collecting {
  db: Kysely<Tables>;
  key: DataKey;
  agentId: string;
  /** Where the agent puts them. */
  from: string;
  /** Where sealed files are kept. */
  to: string;
}

const mostFiles = 1_000;
const largestFileBytes = 200 * 1024 * 1024;

/** Answers with what had to be left out. May be called again after a crash: what was taken is gone from there. */
async function collectArtifacts(collecting: Collecting): Promise<string[]> {
  const { from, to } = collecting;
  await mkdir(to, { recursive: true, mode: 0o700 });
  const files = await regularFiles(from);
  const left: string[] = files.slice(mostFiles);
  for (const file of files.slice(0, mostFiles)) {
    if (await keep(file, collecting)) await rm(join(from, file), { force: true });
    else left.push(file);
  }
  return left;
}

async function keep(file: string, { db, key, agentId, from, to }: Collecting): Promise<boolean> {
  const content = await readRegular(join(from, file));
  if (!content) return false;
  const path = `artifacts/${file}`;
  const blob = randomUUID();
  await writeFile(join(to, blob), key.seal(content, artifactPlace(agentId, blob)), { mode: 0o600 });
  const former = await db
    .selectFrom("artifacts")
    .select("blob")
    .where("agent_id", "=", agentId)
    .where("path", "=", path)
    .executeTakeFirst();
  const row = { size_bytes: content.length, blob, updated_at: new Date() };
  await db
    .insertInto("artifacts")
    .values({ agent_id: agentId, path, ...row })
    .onConflict((conflict) => conflict.columns(["agent_id", "path"]).doUpdateSet(row))
    .execute();
  if (former) await rm(join(to, former.blob), { force: true });
  return true;
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
