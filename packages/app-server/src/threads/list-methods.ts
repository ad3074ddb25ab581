// thread/*: listing, naming, archiving and deleting stored threads.
import { realpathSync } from "node:fs";
import { readNames, removeSession, scanSession, writeName } from "@agentcli/host/session-files";
import { findSessionPath, listSessionPaths } from "@agentcli/host/sessions";
import type { ParamsOf, Thread } from "@agentcli/protocol/app-server";
import { type Host, invalidRequest, type Methods } from "../method.ts";
import type { Program } from "../program.ts";
import { archive, archivedPath, listArchived, unarchive } from "./archive.ts";
import { firstWords } from "./facts.ts";
import { originOf, wireThread } from "./live.ts";
import { unknownThread } from "./refusals.ts";
import { isThreadId, type ThreadTable } from "./table.ts";
import { readStored } from "./thread-methods.ts";

export function listMethods(table: ThreadTable, { program, broadcast }: Host): Methods {
  const { agentHome } = program.environment;
  return {
    "thread/list": (params) => page(wanted(params, table, program), params),
    async "thread/archive"({ threadId }) {
      const path = pathOf(threadId, agentHome);
      await table.unload(threadId);
      archive(agentHome, path);
      broadcast("thread/archived", { threadId });
      return {};
    },
    "thread/unarchive": ({ threadId }) => {
      const path = isThreadId(threadId) ? archivedPath(agentHome, threadId) : null;
      if (path === null) throw unknownThread(threadId);
      unarchive(agentHome, path);
      const thread = readStored(threadId, "without turns", program);
      if (!thread) throw unknownThread(threadId);
      broadcast("thread/unarchived", { threadId });
      return { thread };
    },
    async "thread/delete"({ threadId }) {
      const path = (isThreadId(threadId) ? archivedPath(agentHome, threadId) : null) ?? pathOf(threadId, agentHome);
      await table.unload(threadId);
      const removal = removeSession(path);
      if (removal.kind === "in-use") throw invalidRequest(`thread ${threadId} is in use by process ${removal.pid}`);
      if (removal.kind === "refused") throw invalidRequest(removal.reason);
      broadcast("thread/deleted", { threadId });
      return {};
    },
    "thread/name/set": ({ threadId, name }) => {
      if (!table.find(threadId)) pathOf(threadId, agentHome);
      writeName(agentHome, threadId, name.trim());
      broadcast("thread/name/updated", { threadId, threadName: name.trim() });
      return {};
    },
  };
}

function pathOf(threadId: string, agentHome: string): string {
  const path = isThreadId(threadId) ? findSessionPath(agentHome, threadId) : null;
  if (path === null) throw unknownThread(threadId);
  return path;
}

type ListParams = ParamsOf<"thread/list">;

const defaultPage = 25;
const largestPage = 100;

/** A cursor is the last thread of the page before: new threads do not shift pages. */
function page(threads: Thread[], { cursor, limit, sortKey, sortDirection }: ListParams) {
  const isByChange = sortKey === "updated_at" || sortKey === "recency_at";
  const keyOf = ({ id, createdAt, updatedAt }: Thread) =>
    `${String(isByChange ? updatedAt : createdAt).padStart(12, "0")}.${id}`;
  const comesBefore = (left: string, right: string) => (sortDirection === "asc" ? left < right : left > right);
  const sorted = threads
    .map((thread) => ({ thread, key: keyOf(thread) }))
    .sort((left, right) => (comesBefore(left.key, right.key) ? -1 : 1));
  const rest = sorted.filter(({ key }) => !cursor || comesBefore(cursor, key));
  const shown = rest.slice(0, Math.max(1, Math.min(largestPage, limit ?? defaultPage)));
  const next = shown.length < rest.length ? shown.at(-1)?.key : undefined;
  return { data: shown.map(({ thread }) => thread), nextCursor: next ?? null, backwardsCursor: null };
}

function wanted(params: ListParams, table: ThreadTable, program: Program): Thread[] {
  // No thread is in a section: agentcli has none.
  if (params.sectionId) return [];
  const { agentHome } = program.environment;
  const paths = params.archived ? listArchived(agentHome) : listSessionPaths(agentHome);
  const names = readNames(agentHome);
  return paths.flatMap((path) => {
    const thread = listed(path, names, table);
    return thread && fits(thread, params) ? [thread] : [];
  });
}

/** Sub-agents have their own sessions, but users look for the parent. */
function listed(path: string, names: Map<string, string>, table: ThreadTable): Thread | null {
  const scan = scanSession(path);
  if (!scan || scan.created.parentId !== undefined) return null;
  const { created, createdAt, firstTurn, lastTurn, updatedMs } = scan;
  const { cwd, provider } = (lastTurn ?? created).settings;
  const id = created.threadId;
  return wireThread({
    id,
    origin: originOf(created, createdAt),
    cwd,
    provider,
    preview: firstTurn ? firstWords(firstTurn) : "",
    updatedAtMs: updatedMs,
    name: names.get(id) ?? null,
    path,
    ephemeral: false,
    status: table.find(id)?.describe("without turns").status ?? { type: "notLoaded" },
    turns: [],
  });
}

function fits({ cwd, modelProvider, preview, name }: Thread, params: ListParams): boolean {
  const { cwd: wantedCwd, modelProviders, searchTerm } = params;
  const paths = wantedCwd === undefined || wantedCwd === null ? null : [wantedCwd].flat().map(realPath);
  if (paths && !paths.includes(realPath(cwd))) return false;
  if (modelProviders?.length && !modelProviders.includes(modelProvider)) return false;
  const words = `${name ?? ""}\n${preview}`.toLowerCase();
  return !searchTerm || words.includes(searchTerm.toLowerCase());
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
