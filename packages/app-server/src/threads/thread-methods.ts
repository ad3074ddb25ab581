// thread/*: opening, joining, reading and leaving threads.
import type { StoredRecord } from "@agentcli/engine";
import { isLockHeld } from "@agentcli/host";
import { readNames } from "@agentcli/host/session-files";
import { findSessionPath, readLines } from "@agentcli/host/sessions";
import type { Thread, ThreadStartResponse } from "@agentcli/protocol/app-server";
import type { Call, Client, Methods } from "../method.ts";
import type { Program } from "../program.ts";
import { archivedPath } from "./archive.ts";
import { newFacts, noteFacts } from "./facts.ts";
import { asResting, openView, wireThread } from "./live.ts";
import type { OwnThread } from "./own-thread.ts";
import { unknownThread } from "./refusals.ts";
import { type SettingsChange, wireSandbox } from "./settings-change.ts";
import { isThreadId, type ThreadTable } from "./table.ts";

export function threadMethods(table: ThreadTable, program: Program): Methods {
  return {
    async "thread/start"(params, client, call) {
      const { ephemeral, baseInstructions: base, developerInstructions: developer } = params;
      const instructions = { base, developer };
      const thread = await table.open({
        kind: "new",
        ephemeral: ephemeral === true,
        change: changeOf(params),
        instructions,
      });
      return welcome(thread, client, call, "without turns");
    },
    async "thread/resume"({ threadId, ...params }, client, call) {
      const known = table.find(threadId);
      if (known?.kind === "child") {
        const root = await table.own(known.rootId);
        call.afterwards(known.audience.join(client));
        return { ...opened(root), thread: known.describe("with turns") };
      }
      const change = changeOf(params);
      const thread = known ?? (await table.open({ kind: "resumed", id: threadId, change, instructions: {} }));
      if (known) await known.change(change);
      return joined(thread, client, call);
    },
    async "thread/fork"({ threadId, lastTurnId, ephemeral, ...params }, client, call) {
      const past = readPast(threadId, table, program);
      const thread = await table.open({
        kind: "forked",
        ephemeral: ephemeral === true,
        past,
        lastTurnId: lastTurnId ?? undefined,
        change: changeOf(params),
        instructions: {},
      });
      return welcome(thread, client, call, "with turns");
    },
    "thread/read": ({ threadId, includeTurns }) => {
      const turns = includeTurns === true ? "with turns" : "without turns";
      const thread = table.find(threadId)?.describe(turns) ?? readStored(threadId, turns, program);
      if (!thread) throw unknownThread(threadId);
      return { thread };
    },
    "thread/loaded/list": ({ cursor, limit }) => {
      const all = table.loaded().sort();
      const rest = all.filter((id) => !cursor || id > cursor);
      const data = rest.slice(0, limit ?? rest.length);
      return { data, nextCursor: data.length < rest.length ? (data.at(-1) ?? null) : null };
    },
    "thread/unsubscribe": ({ threadId }, client) => {
      const thread = table.find(threadId);
      if (!thread) return { status: "notLoaded" };
      return { status: thread.audience.leave(client) ? "unsubscribed" : "notSubscribed" };
    },
  };
}

/** For the client that opened it: the thread is announced after the answer. */
function welcome(thread: OwnThread, client: Client, call: Call, turns: Parameters<OwnThread["describe"]>[0]) {
  const startNotifying = thread.audience.join(client);
  call.afterwards(() => {
    client.notify("thread/started", { thread: thread.describe("without turns") });
    startNotifying();
    thread.announce();
  });
  return { ...opened(thread), thread: thread.describe(turns) };
}

/** What has happened is in the answer, what happens from now on follows it: nothing is missing, nothing comes twice. */
function joined(thread: OwnThread, client: Client, call: Call): ThreadStartResponse {
  call.afterwards(thread.audience.join(client));
  return { ...opened(thread), thread: thread.describe("with turns") };
}

function opened(thread: OwnThread): Omit<ThreadStartResponse, "thread"> {
  const run = thread.run();
  const { model, provider, cwd, approval, effort } = run.settings;
  return {
    model,
    modelProvider: provider,
    cwd,
    instructionSources: run.context.sources(),
    approvalPolicy: approval,
    approvalsReviewer: "user",
    sandbox: wireSandbox(run),
    reasoningEffort: effort ?? null,
  };
}

function changeOf(params: SettingsChange): SettingsChange {
  const { model, modelProvider, cwd, approvalPolicy, sandbox, config, serviceTier } = params;
  return { model, modelProvider, cwd, approvalPolicy, sandbox, config, serviceTier };
}

export function readPast(threadId: string, table: ThreadTable, { environment }: Program): StoredRecord[] {
  const path = isThreadId(threadId) ? findSessionPath(environment.agentHome, threadId) : null;
  if (path) return readLines(path);
  const loaded = table.find(threadId);
  if (loaded?.kind === "own") return loaded.records();
  throw unknownThread(threadId);
}

/** A thread that is not loaded, read from its file. */
export function readStored(
  threadId: string,
  turns: Parameters<OwnThread["describe"]>[0],
  { environment, scrub, version }: Program,
): Thread | null {
  const { agentHome } = environment;
  const path = isThreadId(threadId)
    ? (findSessionPath(agentHome, threadId) ?? archivedPath(agentHome, threadId))
    : null;
  if (path === null) return null;
  const view = openView(threadId, scrub);
  const facts = newFacts(version);
  for (const stored of readLines(path)) {
    noteFacts(facts, stored);
    view.apply(stored);
  }
  const isElsewhere = isLockHeld(`${path}.lock`);
  return wireThread({
    ...facts,
    id: threadId,
    name: readNames(agentHome).get(threadId) ?? null,
    path,
    ephemeral: false,
    status: { type: "notLoaded" },
    turns: turns === "without turns" ? [] : isElsewhere ? view.turns() : asResting(view.turns()),
  });
}
