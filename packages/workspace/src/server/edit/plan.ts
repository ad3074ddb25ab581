// Works out everything a patch will do before any of it is done. Later edits see what earlier ones made.
import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { Edit, EditResult } from "@agentcli/protocol";
import { errnoOf, troubleOf } from "../files/fault.ts";
import { kindTrouble, readRegular } from "../files/regular.ts";
import type { Place } from "../place.ts";
import { Refusal } from "./refusal.ts";
import { findTarget, mayWrite, type Target } from "./target.ts";
import { readText, renderText } from "./text.ts";
import { updateText } from "./update.ts";

/** `path` is real and absolute; `shown` is its name in messages. */
export type Effect =
  /** The new file takes mode and owner from `like`, where there is one. */
  | { kind: "write"; path: string; shown: string; bytes: Buffer; like: Stats | null }
  | { kind: "remove"; path: string; shown: string };

type EditedFile = Extract<EditResult, { kind: "edited" }>["files"][number];
type Update = Extract<Edit, { kind: "update" }>;

export async function planEdits(place: Place, edits: Edit[]): Promise<{ effects: Effect[]; files: EditedFile[] }> {
  const draft = newDraft(place);
  const files: EditedFile[] = [];
  for (const edit of edits) {
    const file = await planEdit(draft, edit);
    const known = files.some((other) => JSON.stringify(other) === JSON.stringify(file));
    if (!known) files.push(file);
  }
  return { effects: draft.effects(), files };
}

async function planEdit(draft: Draft, edit: Edit): Promise<EditedFile> {
  const target = await findTarget(draft.place, edit.path);
  switch (edit.kind) {
    case "add":
      await draft.write(target, Buffer.from(edit.content), null);
      return { path: target.shown, kind: "add" };
    case "delete":
      await draft.remove(target);
      return { path: target.shown, kind: "delete" };
    case "update":
      return planUpdate(draft, target, edit);
  }
}

async function planUpdate(draft: Draft, target: Target, edit: Update): Promise<EditedFile> {
  const { bytes, like } = await draft.read(target);
  const updated = edit.chunks.length === 0 ? bytes : updateBytes(bytes, target.shown, edit);
  const goal = edit.moveTo === undefined ? null : await findTarget(draft.place, edit.moveTo);
  if (goal === null || goal.file === target.file) {
    await draft.write(target, updated, like);
    return { path: target.shown, kind: "update" };
  }
  await draft.write(goal, updated, like);
  await draft.remove(target);
  return { path: target.shown, kind: "update", movedTo: goal.shown };
}

function updateBytes(bytes: Buffer, shown: string, edit: Update): Buffer {
  const text = readText(bytes);
  if (text === null) throw new Refusal(`${cannotRead(shown)} it is not UTF-8 text; change it with a command instead`);
  const updated = updateText(text, edit.chunks);
  if (updated.kind === "updated") return renderText(updated.text);
  throw new Refusal(`Failed to find expected lines in ${shown}:\n${updated.lines.join("\n")}`);
}

const cannotRead = (shown: string) => `Failed to read file to update ${shown}:`;
const largestBytes = 64 * 1024 * 1024;

type Draft = ReturnType<typeof newDraft>;

/** The files as they will be: what was planned so far, laid over the disk. */
function newDraft(place: Place) {
  const planned = new Map<string, Effect>();
  // A symlink that was removed or replaced in the plan no longer leads anywhere.
  const pathOf = (target: Target) => (planned.has(target.entry) ? target.entry : target.file);
  return {
    place,
    async read(target: Target): Promise<{ bytes: Buffer; like: Stats | null }> {
      const known = planned.get(pathOf(target));
      if (known?.kind === "write") return known;
      if (known?.kind === "remove") throw new Refusal(`${cannotRead(target.shown)} this patch deletes it earlier`);
      const content = await readRegular(target.file, largestBytes);
      if (content.kind === "closed") throw new Refusal(`${cannotRead(target.shown)} ${content.trouble.reason}`);
      return { bytes: content.bytes, like: content.stat };
    },
    async write(target: Target, bytes: Buffer, like: Stats | null): Promise<void> {
      const path = pathOf(target);
      await mayWrite(place, target, path);
      const replaced = planned.get(path)?.kind === "remove" ? null : await replacedFile(target.shown, path);
      planned.set(path, { kind: "write", path, shown: target.shown, bytes, like: like ?? replaced });
    },
    async remove(target: Target): Promise<void> {
      await mayWrite(place, target, target.entry);
      const onDisk = await removable(target, planned.get(target.entry));
      planned.delete(target.entry);
      if (onDisk) planned.set(target.entry, { kind: "remove", path: target.entry, shown: target.shown });
    },
    effects: () => [...planned.values()],
  };
}

/** The file on disk that the new one will replace, if any. */
async function replacedFile(shown: string, path: string): Promise<Stats | null> {
  const failed = `Failed to write ${shown}:`;
  const found = await statOrNull(stat, path, failed);
  const trouble = found === null ? null : kindTrouble(found);
  if (trouble !== null) throw new Refusal(`${failed} ${trouble.reason}`);
  return found;
}

/** Whether the entry is on disk; throws when there is nothing to delete, or no file. */
async function removable(target: Target, known: Effect | undefined): Promise<boolean> {
  const failed = `Failed to delete ${target.shown}:`;
  const found = await statOrNull(lstat, target.entry, failed);
  if (known?.kind === "remove") throw new Refusal(`${failed} this patch deletes it earlier`);
  if (known === undefined && found === null) throw new Refusal(`${failed} there is no such file`);
  const trouble = found === null || found.isSymbolicLink() ? null : kindTrouble(found);
  if (trouble !== null) throw new Refusal(`${failed} ${trouble.reason}; only files can be deleted`);
  return found !== null;
}

async function statOrNull(look: (path: string) => Promise<Stats>, path: string, failed: string): Promise<Stats | null> {
  try {
    return await look(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw new Refusal(`${failed} ${troubleOf(error).reason}`);
  }
}
