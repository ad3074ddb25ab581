// Session files for tests, written by hand: what the program would have written, and what a crash leaves of it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { StoredRecord } from "@agentcli/engine";
import { newId, newSessionPath, writeLine } from "@agentcli/host/sessions";
import type { ThreadRecord, TurnEnd, TurnSettings } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { onTestFinished } from "vitest";

export async function temporaryHome(): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return home.path;
}

export const settings = (cwd: string): TurnSettings => ({
  model: "scripted",
  provider: "test",
  cwd,
  shell: "/bin/sh",
  sandbox: "read-only",
  approval: "never",
});

type Created = Extract<ThreadRecord, { type: "thread.created" }>;
type Begun = Extract<ThreadRecord, { type: "turn.begun" }>;

export const created = (threadId: string, cwd: string, more: Partial<Created> = {}): Created => ({
  type: "thread.created",
  threadId,
  frozen: { instructions: "Be brief.", tools: [], context: [] },
  settings: settings(cwd),
  program: { name: "agentcli", version: "1.2.3" },
  ...more,
});

export const begun = (text: string, cwd: string, more: Partial<Begun> = {}): Begun => ({
  type: "turn.begun",
  turnId: "turn",
  input: [{ type: "text", text }],
  settings: settings(cwd),
  ...more,
});

export const sandboxNote: ThreadRecord = {
  type: "noted",
  kind: "sandbox",
  data: { mode: "read-only", backend: "none", fs: "none", net: "off", pid: false, syscalls: false },
};

export const replied = (text: string): ThreadRecord => ({
  type: "model.replied",
  blocks: [{ type: "message", text }],
  usage: { inputTokens: 1, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 1, reasoningOutputTokens: 0 },
  model: "scripted",
});

export const ended = (end: TurnEnd = { status: "completed", message: "Done." }): ThreadRecord => ({
  type: "turn.ended",
  turnId: "turn",
  end,
});

export const numbered = (records: ThreadRecord[]): StoredRecord[] =>
  records.map((record, index) => ({ seq: index + 1, at: "2026-01-02T03:04:05.678Z", record }));

export interface WrittenSession {
  id: string;
  path: string;
  text: string;
}

/** A file of a thread that was created, then got these records. `tail` is what a crash left behind the last line. */
export function writeSession(home: string, cwd: string, records: ThreadRecord[], tail = ""): WrittenSession {
  const first = records[0]?.type === "thread.created" ? records[0] : undefined;
  const id = first?.threadId ?? newId(Date.now());
  const path = newSessionPath(home, id, new Date());
  const all = first ? records : [created(id, cwd), sandboxNote, ...records];
  const text = numbered(all).map(writeLine).join("") + tail;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { id, path, text };
}
