// Puts files of a backup where they belong. Links come last, so that nothing is written through one.
import { chmodSync, closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import type { Section } from "./archive.ts";
import { BackupProblem } from "./problem.ts";

export interface Placer {
  begin(section: Section): void;
  write(piece: Buffer): void;
  finish(): void;
}

/** `formerly` is what the directory was called when the backup was made. */
export function openPlacer(directory: string, formerly: string): Placer {
  const later: (() => void)[] = [];
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

  /** Git directories name those they borrow from by their whole paths. */
  function gatherAddresses(path: string): void {
    const pieces: Buffer[] = [];
    write = (piece) => void pieces.push(piece);
    end = () => {
      const lines = Buffer.concat(pieces).toString("utf8").split("\n");
      const moved = lines.map((line) =>
        line.startsWith(`${formerly}/`) ? `${directory}${line.slice(formerly.length)}` : line,
      );
      writeFileSync(path, moved.join("\n"), { flag: "wx" });
    };
  }

  return {
    begin(section) {
      end();
      write = () => {};
      end = () => {};
      if (!("path" in section)) return;
      const path = join(directory, checked(section.path));
      switch (section.kind) {
        case "directory":
          mkdirSync(path, { mode: 0o700 });
          later.unshift(() => chmodSync(path, section.mode));
          return;
        case "link":
          later.unshift(() => symlinkSync(section.target, path));
          return;
        case "file":
          if (borrowing.test(path)) gatherAddresses(path);
          else beginFile(path, section.mode);
      }
    },
    write: (piece) => write(piece),
    finish() {
      end();
      for (const act of later) act();
    },
  };
}

const borrowing = /\/handoffs\/.*\/objects\/info\/alternates$/;

function checked(path: string): string {
  if (!isAbsolute(path) && !normalize(path).startsWith("..")) return path;
  throw new BackupProblem(`The backup has a file outside of its directory: ${path}. It is not one of ours.`);
}
