// What a command prints while it runs: the last lines, and how many there were.
import { visible } from "../text/index.ts";

export interface OutputTail {
  add(text: string): void;
  lines(): string[];
  count(): number;
}

const maxLines = 6;
const maxCharacters = 2048;

export function openTail(): OutputTail {
  let last: string[] = [""];
  let ended = 0;
  return {
    add(text) {
      const pieces = text.replace(/\r\n/g, "\n").split("\n");
      ended += pieces.length - 1;
      const [first = "", ...rest] = pieces.slice(-(maxLines + 1));
      last =
        pieces.length > maxLines + 1
          ? [first, ...rest]
          : [...last.slice(0, -1), `${last.at(-1) ?? ""}${first}`, ...rest];
      last = last.slice(-(maxLines + 1)).map((line) => line.slice(-maxCharacters));
    },
    lines: () => last.map(overwritten).filter((line) => line.trim() !== ""),
    count: () => ended + (last.at(-1) === "" ? 0 : 1),
  };
}

/** A progress bar writes over its line: what counts is what stands there last. */
function overwritten(line: string): string {
  const written = line.replace(/\r+$/, "");
  return visible(written.slice(written.lastIndexOf("\r") + 1));
}
