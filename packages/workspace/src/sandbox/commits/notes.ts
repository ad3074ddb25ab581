// Sentences of the host about imports, added to the output of the next command that exits.
import type { Chunk, ExecResult } from "@agentcli/protocol";
import { addNote, type NotedResult } from "../../client/index.ts";

export interface Note {
  /** A failure: something was lost. A warning is for the user as well, when the run ends. */
  kind: "note" | "warning" | "failure";
  text: string;
}

export interface Notes {
  add(notes: Note[]): void;
  /** Once for each process; a failure makes its exit code that of an error. */
  addTo(id: string, result: ExecResult): { result: ExecResult; note?: Chunk };
  /** An empty list means all. */
  forget(ids: string[]): void;
  /** Those that no command has shown. */
  takeFailures(): string[];
  /** Each once. */
  takeWarnings(): string[];
}

export function openNotes(): Notes {
  const noted = new Map<string, NotedResult>();
  const pending: Note[] = [];
  const warnings = new Set<string>();
  return {
    add(notes) {
      pending.push(...notes);
      for (const { kind, text } of notes) if (kind === "warning") warnings.add(text);
    },
    addTo(id, result) {
      if (result.state !== "exited") return { result };
      const existing = noted.get(id);
      if (existing !== undefined) return existing;
      const notes = pending.splice(0);
      if (notes.length === 0) return { result };
      const isFailed = notes.some(({ kind }) => kind === "failure");
      const exitCode = isFailed ? result.exitCode || 1 : result.exitCode;
      const fresh = addNote({ ...result, exitCode }, notes.map(({ text }) => `${text}\n`).join(""));
      noted.set(id, fresh);
      return fresh;
    },
    forget(ids) {
      for (const id of ids.length === 0 ? [...noted.keys()] : ids) noted.delete(id);
    },
    takeFailures: () =>
      pending
        .splice(0)
        .filter(({ kind }) => kind === "failure")
        .map(({ text }) => text),
    takeWarnings() {
      const taken = [...warnings];
      warnings.clear();
      return taken;
    },
  };
}
