// A message that streams, divided into pieces that can be shown for good: lines, whole tables, code. Work per piece of text does
// not grow with the message, and no piece is more than a frame can show.
import { closesFence, codeRows, type Fence, type Line, markdown, openingFence } from "../text/index.ts";

export type Block = { kind: "markdown"; text: string } | { kind: "code"; lines: string[]; language: string };

export interface BlockStream {
  add(text: string): void;
  /** The message is complete. */
  finish(): void;
  /** Blocks that are complete, once each. */
  take(): Block[];
  /** The beginning of a block that is not. */
  open(): Block;
}

/** A longer table or code block is shown in pieces. */
const maxHeldLines = 200;
/** Lines that arrived together. */
const maxTogether = 32;
/** A longer line too. */
const maxLine = 4096;

export function openBlocks(): BlockStream {
  const done: Block[] = [];
  let held: string[] = [];
  let fence: Fence | null = null;
  let partial = "";

  const release = (end = held.length) => {
    if (end === 0) return;
    const lines = held.slice(0, end);
    held = held.slice(end);
    done.push(fence ? { kind: "code", lines, language: fence.language } : { kind: "markdown", text: lines.join("\n") });
  };
  /** Lines that may belong to a table wait for the rest of it. */
  const releaseText = () => {
    if (!fence) release(held.findLastIndex((text) => !text.includes("|")) + 1);
  };
  const line = (text: string) => {
    const opening = fence ? null : openingFence(text);
    if (opening) {
      release();
      fence = opening;
    } else if (fence && closesFence(text, fence)) {
      release();
      fence = null;
    } else {
      held.push(text);
      if (held.length >= maxHeldLines) release();
      else if (held.length >= maxTogether) releaseText();
    }
  };
  return {
    add(text) {
      const lines = (partial + text).split("\n");
      partial = lines.pop() ?? "";
      for (const whole of lines) line(whole);
      releaseText();
      if (partial.length <= maxLine) return;
      const space = partial.lastIndexOf(" ");
      const end = space > 0 ? space + 1 : partial.length;
      held.push(partial.slice(0, end));
      release();
      partial = partial.slice(end);
    },
    finish() {
      if (partial !== "") line(partial);
      partial = "";
      release();
    },
    take: () => done.splice(0),
    open: () => {
      const lines = partial === "" ? held : [...held, partial];
      return fence ? { kind: "code", lines, language: fence.language } : { kind: "markdown", text: lines.join("\n") };
    },
  };
}

export const blockRows = (block: Block, columns: number): Line[] =>
  block.kind === "code" ? codeRows(block.lines, block.language, columns) : markdown(block.text, columns);
