// A message that streams, divided into pieces that can be shown for good: lines, whole tables, code. Work per piece of text does
// not grow with the message.
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
/** A longer line too. */
const maxLine = 4096;

export function openBlocks(): BlockStream {
  const done: Block[] = [];
  let held: string[] = [];
  let fence: Fence | null = null;
  let partial = "";

  const release = () => {
    if (held.length === 0) return;
    done.push(
      fence ? { kind: "code", lines: held, language: fence.language } : { kind: "markdown", text: held.join("\n") },
    );
    held = [];
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
      if (held.length >= maxHeldLines || (!fence && !text.includes("|"))) release();
    }
  };
  return {
    add(text) {
      const lines = (partial + text).split("\n");
      partial = lines.pop() ?? "";
      for (const whole of lines) line(whole);
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
