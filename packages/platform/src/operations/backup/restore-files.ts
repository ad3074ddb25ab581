// Restores the files of a backup. Links are created last, so that nothing is written through one.
import { chmodSync, closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { auditHeadFile } from "./files.ts";
import type { Section } from "./format.ts";

export interface FileRestorer {
  /** The sections must have been checked. */
  begin(section: Section): void;
  write(piece: Buffer): void;
  finish(): void;
}

/** `formerDirectory`: the data directory when the backup was made. */
export function openFileRestorer(directory: string, formerDirectory: string): FileRestorer {
  const deferred: (() => void)[] = [];
  let write = (_piece: Buffer): void => {};
  let end = (): void => {};

  function beginFile(path: string, mode: number): void {
    const file = openSync(path, "wx", mode | 0o200);
    write = (piece) => {
      for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
    };
    end = () => {
      closeSync(file);
      chmodSync(path, mode);
    };
  }

  /** Git alternates contain absolute paths. */
  function rewritePaths(path: string): void {
    const pieces: Buffer[] = [];
    write = (piece) => void pieces.push(piece);
    end = () => {
      const lines = Buffer.concat(pieces).toString("utf8").split("\n");
      const moved = lines.map((line) =>
        line.startsWith(`${formerDirectory}/`) ? `${directory}${line.slice(formerDirectory.length)}` : line,
      );
      writeFileSync(path, moved.join("\n"), { flag: "wx" });
    };
  }

  return {
    begin(section) {
      end();
      write = () => {};
      end = () => {};
      if (section.kind === "audit-head") beginFile(join(directory, auditHeadFile), 0o600);
      if (!("path" in section)) return;
      const path = join(directory, section.path);
      switch (section.kind) {
        case "directory":
          mkdirSync(path, { mode: 0o700 });
          deferred.unshift(() => chmodSync(path, section.mode));
          return;
        case "link":
          deferred.unshift(() => symlinkSync(section.target, path));
          return;
        case "file":
          if (alternatesFile.test(section.path)) rewritePaths(path);
          else beginFile(path, section.mode);
      }
    },
    write: (piece) => write(piece),
    finish() {
      end();
      for (const act of deferred) act();
    },
  };
}

/** Of the server's own; files of agents may have any name. */
const alternatesFile = /^handoffs\/.*\/objects\/info\/alternates$/;
