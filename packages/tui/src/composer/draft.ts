// The message being written, kept in a file: it survives the end of the program, however that comes.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyBuffer, type Buffer as Message } from "./buffer.ts";

export interface Draft {
  text: string;
  images: string[];
  pastes: Record<string, string>;
}

export interface DraftFile {
  read(): Draft | null;
  /** An empty one is removed. */
  write(draft: Draft): void;
}

/** `name` is the thread, or the directory of a thread that does not exist yet. */
export function openDraft(agentHome: string, name: string): DraftFile {
  const path = join(agentHome, "drafts", `${Buffer.from(name).toString("base64url").slice(-80)}.json`);
  return {
    read() {
      try {
        const { text, images, pastes } = JSON.parse(readFileSync(path, "utf8")) as Draft;
        return { text: String(text), images: images ?? [], pastes: pastes ?? {} };
      } catch {
        return null;
      }
    },
    write(draft) {
      try {
        if (draft.text === "" && draft.images.length === 0) return rmSync(path, { force: true });
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeFileSync(path, JSON.stringify(draft), { mode: 0o600 });
      } catch {
        // A home that cannot be written keeps no drafts.
      }
    },
  };
}

export const draftBuffer = (draft: Draft | null): Message =>
  draft ? { ...emptyBuffer(draft.text), pastes: draft.pastes } : emptyBuffer();
