// The files of an agent between this server and its worker, at the begin and at the end of a run. A server that takes a run over
// from another one leaves on the worker what the run has done there, and fetches all of it at the end.
import { randomUUID } from "node:crypto";
import { type FileSync, loadFileSync } from "@agentcli/workspace";
import { z } from "zod";
import type { ObjectStore } from "../foundation/index.ts";
import { type Caller, readAnswer, WorkerFault } from "./calls.ts";
import { type ClonableRepository, cloneThere, nothingCloned } from "./clones.ts";
import { fetchArtifacts } from "./uploads.ts";

export interface ExchangedFiles {
  runId: string;
  /** Name of the agent's directories. */
  name: string;
  /** The agent's files on this server. */
  directory: string;
  /** Below that directory: the working directory, and what commands may write. */
  root: string;
  writable: string[];
  limits: { diskBytes: number | null };
  /** Another server, or this one before it ended, has driven the run already. */
  isResumed: boolean;
  /** Large artifacts come through it; null: the worker cannot put them there. */
  store: ObjectStore | null;
  /** Where this server remembers what the worker has. */
  stateFile: string;
  /** What the worker clones itself; empty if it does not, or the agent has changed anything. */
  findClonable(): Promise<ClonableRepository[]>;
}

export interface FileExchange {
  /** Makes the files there equal to those here. Returns notes for readers of the run. */
  prepare(): Promise<string[]>;
  /** Makes the files here equal to those there. No command may run meanwhile. */
  copyFilesBack(): Promise<void>;
}

export function exchangeFiles(call: Caller, files: ExchangedFiles): FileExchange {
  let collects: Collects = "changes";
  return {
    async prepare() {
      const prepared = await prepare(call, files, await loadFileSync());
      collects = prepared.collects;
      return prepared.warnings;
    },
    copyFilesBack: async () => copyFilesBack(call, { ...files, collects }, await loadFileSync()),
  };
}

/** What the worker sends at the end: this server may not know what it had at the begin. */
type Collects = "changes" | "everything";

/** A worker of an earlier version does not keep its changes: after `sync.apply` it takes them as known here. */
const SyncState = z.object({ id: z.string().max(128).nullable(), keepsChanges: z.boolean().optional() });

/** Ids of moments of this run, so that another server can tell them from earlier ones. */
const prefixOf = ({ runId }: ExchangedFiles): string => `${runId} `;
const newSyncId = (files: ExchangedFiles): string => `${prefixOf(files)}${randomUUID()}`;

/** Its ids do not name the run: it may have begun this one, whose work is on the worker alone. */
const isOfOlderServer = (id: string | null): boolean => id !== null && !id.includes(" ");

/** Only what has changed here since both were equal; all of it if the worker has something else. */
async function prepare(call: Caller, files: ExchangedFiles, sync: FileSync): Promise<Prepared> {
  const { name, directory, stateFile } = files;
  const there = readAnswer("sync.state", SyncState, await call.plain("sync.state", { agent: name }));
  const last = await sync.readSyncState(stateFile);
  const isKnown = last !== undefined && last.id === there.id;
  const isOfRun = (there.id?.startsWith(prefixOf(files)) ?? false) || (files.isResumed && isOfOlderServer(there.id));
  // Its commands go on, and their files are there alone.
  if (isOfRun && !isKnown) return { collects: "everything", warnings: [] };
  const now = await sync.listFiles(directory);
  const changes = sync.changesSince(isKnown ? last.listing : new Map(), now);
  const isSame = changes.removed.length + changes.written.length === 0;
  // What has changed here since came from there, and may be incomplete.
  if (isOfRun) return { collects: isSame ? "changes" : "everything", warnings: [] };
  if (isKnown && isSame && there.keepsChanges !== true) return { collects: "changes", warnings: [] };
  const id = newSyncId(files);
  const { clones, isCloned, warnings } = there.id === null ? await cloneThere(call, files, now) : nothingCloned;
  const sent = { ...changes, written: changes.written.filter((path) => !isCloned(path)) };
  const request = { agent: name, id, isWhole: !isKnown, ...(clones.length > 0 && { clones }) };
  const stream = await call.streaming("sync.apply", request, (to) => sync.sendChanges(directory, sent, to));
  stream.destroy();
  await sync.writeSyncState(stateFile, { id, listing: now });
  return { collects: "changes", warnings };
}

interface Prepared {
  collects: Collects;
  warnings: string[];
}

const maxFiles = 2_000_000;

async function copyFilesBack(
  call: Caller,
  { collects, ...files }: ExchangedFiles & { collects: Collects },
  sync: FileSync,
): Promise<void> {
  const { name, directory, stateFile, limits, root, writable } = files;
  const allowed = { maxBytes: limits.diskBytes, maxFiles, directories: [root, ...writable, ".artifacts"] };
  // Two requests: a worker that does not know the second one refuses it, instead of sending a part as the whole.
  const request = collects === "everything" ? "sync.collectAll" : "sync.collect";
  const write = collects === "everything" ? sync.replaceFiles : sync.applyChanges;
  // All files replace those here: nothing may be fetched beside them.
  const { paths: without, bytes } =
    files.store !== null && collects === "changes"
      ? await fetchArtifacts(call, { ...files, allowed, store: files.store }, sync)
      : { paths: [], bytes: 0 };
  const left = { ...allowed, maxBytes: allowed.maxBytes === null ? null : allowed.maxBytes - bytes };
  const stream = await call.streaming(request, { agent: name, ...(without.length > 0 && { without }) });
  try {
    await call.guarded<unknown>(() => write(stream, directory, left));
  } catch (error) {
    throw error instanceof sync.SyncFault ? new WorkerFault(error.message, { cause: error }) : error;
  } finally {
    stream.destroy();
  }
  const id = newSyncId(files);
  await sync.writeSyncState(stateFile, { id, listing: await sync.listFiles(directory) });
  await call.plain("sync.commit", { agent: name, id });
}
