// Sessions of other tools as sessions of ours, which can be listed, resumed and forked. They keep their time.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { callbacksFor, type RunOptions, threadCreated } from "@agentcli/host";
import { type FileStore, findSessionPath, newId, openFileStore } from "@agentcli/host/sessions";
import { openRun } from "../exec/run.ts";
import type { Program } from "../program.ts";
import type { Applied } from "./apply.ts";
import type { Conversation } from "./conversation.ts";
import { openReader } from "./files.ts";
import type { Skipped } from "./proposal.ts";
import { sessionRecords } from "./session-records.ts";

export interface SessionSource {
  /** Directory with the files, at any depth. */
  root: string;
  read(path: string, text: string): Conversation | null;
}

export interface SessionImport {
  /** Only files that were changed since. */
  sinceMs: number;
  /** False: only says what would be done. */
  writes: boolean;
  options: RunOptions;
}

const maxBytes = 64 * 1024 * 1024;

export async function importSessions(
  source: SessionSource,
  request: SessionImport,
  program: Program,
): Promise<Applied> {
  const skipped: Skipped[] = [];
  const { agentHome } = program.environment;
  const all = findConversations(source, request.sinceMs, skipped)
    .map((conversation) => ({ conversation, threadId: idOf(conversation) }))
    .filter(({ threadId }) => findSessionPath(agentHome, threadId) === null);
  const found = withoutCopies(all, skipped);
  const taken: string[] = [];
  const store = openFileStore(agentHome);
  try {
    // What the model reads first depends on the directory: it is put together once for each.
    for (const [cwd, group] of byDirectory(found)) {
      const opened = await openThreads(cwd, request, program);
      for (const { conversation, threadId } of group) {
        if ("reason" in opened) {
          skipped.push({ what: conversation.path, reason: opened.reason });
          continue;
        }
        if (request.writes) opened.begin(store, threadId, conversation);
        taken.push(`session ${threadId}: ${titleOf(conversation)}`);
      }
    }
  } finally {
    store.close();
  }
  return { taken, skipped };
}

type Found = { conversation: Conversation; threadId: string };

/** Two files have the same conversation where a project was copied with its sessions. */
function withoutCopies(all: Found[], skipped: Skipped[]): Found[] {
  const first = new Map<string, Found>();
  for (const each of all) {
    const former = first.get(each.threadId);
    if (former === undefined) first.set(each.threadId, each);
    else skipped.push({ what: each.conversation.path, reason: `it is a copy of ${former.conversation.path}` });
  }
  return [...first.values()];
}

function byDirectory(found: Found[]): Map<string, Found[]> {
  const groups = new Map<string, Found[]>();
  for (const each of found) groups.set(each.conversation.cwd, [...(groups.get(each.conversation.cwd) ?? []), each]);
  return groups;
}

type Begin = (store: FileStore, threadId: string, conversation: Conversation) => void;

/** As a run in that directory would begin now: policy and model are those of this program. */
async function openThreads(
  cwd: string,
  { options }: SessionImport,
  program: Program,
): Promise<{ begin: Begin } | { reason: string }> {
  if (!existsSync(cwd)) return { reason: `its directory ${cwd} is not there any more` };
  const { version, scrub, reporter, environment } = program;
  const context = { store: openFileStore(environment.agentHome), recorded: null, callbacks: callbacksFor(reporter) };
  try {
    const run = await openRun({ ...options, directory: cwd, skipGitCheck: true }, program, context);
    const { settings, traits } = run;
    const thread = threadCreated({
      threadId: "",
      settings,
      assembly: run,
      traits,
      program: { name: "agentcli", version },
    });
    await run.close();
    const begin: Begin = (store, threadId, conversation) =>
      store.begin(threadId, sessionRecords(conversation, { created: { ...thread, threadId }, settings, scrub }));
    return { begin };
  } catch (error) {
    return { reason: `no session can begin in ${cwd}: ${(error as Error).message}` };
  }
}

function findConversations({ root, read }: SessionSource, sinceMs: number, skipped: Skipped[]): Conversation[] {
  const readFile = openReader(skipped, maxBytes);
  return listFiles(root)
    .filter((path) => statSync(path, { throwIfNoEntry: false }) && statSync(path).mtimeMs >= sinceMs)
    .sort()
    .flatMap((path) => {
      const conversation = readFile(path, (text) => read(path, text), null);
      return conversation ? [conversation] : [];
    });
}

const listFiles = (root: string): string[] =>
  existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(root, name))
    : [];

/** The same for the same conversation, so that it is taken over once. */
function idOf({ id, at }: Conversation): string {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id)) return id;
  return newId(Math.max(0, at.getTime()), createHash("sha256").update(id).digest().subarray(0, 16));
}

const titleOf = ({ turns: [first] }: Conversation): string =>
  (first?.prompt ?? "").replaceAll(/\s+/g, " ").trim().slice(0, 80);
