// Plans everything a patch will do before any of it is done. Later edits see the results of earlier ones.
import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { Edit, EditResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { errnoOf, kindFault, pathFaultOf, readRegular } from "../files/index.ts";
import { differingLines, type LineChange, shiftChanges } from "./line-changes.ts";
import { describeNearest } from "./nearest.ts";
import { editNotebook } from "./notebook.ts";
import { Refusal } from "./refusal.ts";
import { type ReplacedText, replaceText } from "./replace.ts";
import { assertWritable, findTarget, type Target } from "./target.ts";
import { decode, readText, renderText } from "./text.ts";
import { updateText } from "./update.ts";

/** `path` is real and absolute; `shown` is its name in messages. */
export type Effect =
  /** The new file takes mode and owner from `like`, where there is one. */
  | { kind: "write"; path: string; displayPath: string; bytes: Buffer; like: Stats | null }
  | { kind: "remove"; path: string; displayPath: string };

type EditedFile = Extract<EditResult, { kind: "edited" }>["files"][number];
type Update = Extract<Edit, { kind: "update" }>;
type TextEdit = Extract<Edit, { kind: "replace" | "cell" }>;

export async function planEdits(scope: FileScope, edits: Edit[]): Promise<{ effects: Effect[]; files: EditedFile[] }> {
  const draft = newDraft(scope);
  const planned: PlannedFile[] = [];
  for (const edit of edits) addFile(planned, await planEdit(draft, edit));
  return { effects: draft.effects(), files: planned.map(editedFile) };
}

interface PlannedFile {
  path: string;
  kind: EditedFile["kind"];
  movedTo?: string;
  changes: LineChange[];
  notes: string[];
}

/** A file that is edited twice in the same way is listed once. */
function addFile(planned: PlannedFile[], file: PlannedFile): void {
  const same = planned.find(
    ({ path, kind, movedTo }) => path === file.path && kind === file.kind && movedTo === file.movedTo,
  );
  if (same === undefined) planned.push(file);
  else {
    same.changes = [...shiftChanges(same.changes, file.changes), ...file.changes];
    same.notes.push(...file.notes);
  }
}

const editedFile = ({ changes, notes, ...file }: PlannedFile): EditedFile => ({
  ...file,
  ...(changes.length > 0 && { lines: changes.map(({ from, to, removed }) => ({ from, to, removed })) }),
  ...(notes.length > 0 && { notes }),
});

async function planEdit(draft: Draft, edit: Edit): Promise<PlannedFile> {
  const target = await findTarget(draft.scope, edit.path);
  switch (edit.kind) {
    case "add":
      await draft.create(target, Buffer.from(edit.content));
      return { path: target.displayPath, kind: "add", changes: [], notes: [] };
    case "delete":
      await draft.remove(target);
      return { path: target.displayPath, kind: "delete", changes: [], notes: [] };
    case "update":
      return planUpdate(draft, target, edit);
    case "replace":
    case "cell":
      return planTextEdit(draft, target, edit);
  }
}

async function planUpdate(draft: Draft, target: Target, edit: Update): Promise<PlannedFile> {
  const { bytes, like } = await draft.read(target);
  const unchanged = { bytes, changes: [], notes: [] };
  const { bytes: updated, ...report } =
    edit.chunks.length === 0 ? unchanged : updateBytes(bytes, target.displayPath, edit);
  const destination = edit.moveTo === undefined ? null : await findTarget(draft.scope, edit.moveTo);
  if (destination === null || destination.file === target.file) {
    await draft.write(target, updated, like);
    return { path: target.displayPath, kind: "update", ...report };
  }
  await draft.write(destination, updated, like);
  await draft.remove(target);
  return { path: target.displayPath, kind: "update", movedTo: destination.displayPath, ...report };
}

async function planTextEdit(draft: Draft, target: Target, edit: TextEdit): Promise<PlannedFile> {
  const { bytes, like } = await draft.read(target);
  const { displayPath } = target;
  const decoded = decode(bytes);
  if (decoded === null) throw new Refusal(notText(displayPath));
  const { text, changes } =
    edit.kind === "replace" ? replaceText(decoded, displayPath, edit) : editCell(decoded, displayPath, edit);
  await draft.write(target, Buffer.from(text), like);
  return { path: displayPath, kind: "update", changes, notes: [] };
}

function editCell(before: string, displayPath: string, edit: Extract<TextEdit, { kind: "cell" }>): ReplacedText {
  const text = editNotebook(before, displayPath, edit);
  return { text, changes: differingLines(before.split("\n"), text.split("\n")) };
}

interface UpdatedBytes extends Pick<PlannedFile, "changes" | "notes"> {
  bytes: Buffer;
}

function updateBytes(bytes: Buffer, displayPath: string, edit: Update): UpdatedBytes {
  const text = readText(bytes);
  if (text === null) throw new Refusal(notText(displayPath));
  const updated = updateText(text, edit.chunks);
  if (updated.kind === "updated") {
    return { bytes: renderText(updated.text), changes: updated.changes, notes: updated.notes };
  }
  const expected = `Failed to find expected lines in ${displayPath}:\n${updated.lines.join("\n")}`;
  throw new Refusal(`${expected}\n\n${describeNearest(updated.texts, updated)}`);
}

const notText = (displayPath: string) =>
  `${cannotRead(displayPath)} it is not UTF-8 text; change it with a command instead`;
const cannotRead = (displayPath: string) => `Failed to read file to update ${displayPath}:`;
const maxFileBytes = 64 * 1024 * 1024;

type Draft = ReturnType<typeof newDraft>;

/** The files as they will be: the plan so far on top of the disk. */
function newDraft(scope: FileScope) {
  const planned = new Map<string, Effect>();
  // A symlink that was removed or replaced in the plan no longer leads anywhere.
  const pathOf = (target: Target) => (planned.has(target.entry) ? target.entry : target.file);
  return {
    scope,
    async read(target: Target): Promise<{ bytes: Buffer; like: Stats | null }> {
      const earlier = planned.get(pathOf(target));
      if (earlier?.kind === "write") return earlier;
      if (earlier?.kind === "remove")
        throw new Refusal(`${cannotRead(target.displayPath)} this patch deletes it earlier`);
      const content = await readRegular(target.file, maxFileBytes);
      if (content.kind === "unreadable") throw new Refusal(`${cannotRead(target.displayPath)} ${content.fault.reason}`);
      return { bytes: content.bytes, like: content.stat };
    },
    /** There must be no file yet, unless this patch deletes it. */
    async create(target: Target, bytes: Buffer): Promise<void> {
      const path = pathOf(target);
      await assertWritable(scope, target, path);
      const earlier = planned.get(path);
      const exists =
        earlier === undefined ? (await replacedFile(target.displayPath, path)) !== null : earlier.kind === "write";
      if (exists) throw new Refusal(existsAlready(target.displayPath));
      await this.write(target, bytes, null);
    },
    async write(target: Target, bytes: Buffer, like: Stats | null): Promise<void> {
      const path = pathOf(target);
      await assertWritable(scope, target, path);
      const replaced = planned.get(path)?.kind === "remove" ? null : await replacedFile(target.displayPath, path);
      planned.set(path, { kind: "write", path, displayPath: target.displayPath, bytes, like: like ?? replaced });
    },
    async remove(target: Target): Promise<void> {
      await assertWritable(scope, target, target.entry);
      const onDisk = await isRemovable(target, planned.get(target.entry));
      planned.delete(target.entry);
      if (onDisk) planned.set(target.entry, { kind: "remove", path: target.entry, displayPath: target.displayPath });
    },
    effects: () => [...planned.values()],
  };
}

const existsAlready = (displayPath: string) =>
  `Failed to add ${displayPath}: it exists already. Change it with "*** Update File: ${displayPath}", or put "*** Delete File: ${displayPath}" before it to replace it.`;

/** The file on disk that the new one will replace, if any. */
async function replacedFile(displayPath: string, path: string): Promise<Stats | null> {
  const failed = `Failed to write ${displayPath}:`;
  const stats = await statOrNull(stat, path, failed);
  const fault = stats === null ? null : kindFault(stats);
  if (fault !== null) throw new Refusal(`${failed} ${fault.reason}`);
  return stats;
}

/** Whether the entry is on disk; throws when there is nothing to delete, or no file. */
async function isRemovable(target: Target, earlier: Effect | undefined): Promise<boolean> {
  const failed = `Failed to delete ${target.displayPath}:`;
  const stats = await statOrNull(lstat, target.entry, failed);
  if (earlier?.kind === "remove") throw new Refusal(`${failed} this patch deletes it earlier`);
  if (earlier === undefined && stats === null) throw new Refusal(`${failed} there is no such file`);
  const fault = stats === null || stats.isSymbolicLink() ? null : kindFault(stats);
  if (fault !== null) throw new Refusal(`${failed} ${fault.reason}; only files can be deleted`);
  return stats !== null;
}

async function statOrNull(
  readStats: (path: string) => Promise<Stats>,
  path: string,
  failed: string,
): Promise<Stats | null> {
  try {
    return await readStats(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw new Refusal(`${failed} ${pathFaultOf(error).reason}`);
  }
}
