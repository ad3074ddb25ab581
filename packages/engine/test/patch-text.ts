// Random edits and the equivalent patch text, to test the parser.
import type { EditChunk, PatchEdit } from "@agentcli/protocol";
import fc from "fast-check";

export function renderPatch(edits: PatchEdit[]): string {
  return ["*** Begin Patch", ...edits.flatMap(renderEdit), "*** End Patch", ""].join("\n");
}

function renderEdit(edit: PatchEdit): string[] {
  switch (edit.kind) {
    case "add":
      return [
        `*** Add File: ${edit.path}`,
        ...edit.content
          .split("\n")
          .slice(0, -1)
          .map((line) => `+${line}`),
      ];
    case "delete":
      return [`*** Delete File: ${edit.path}`];
    case "update": {
      const move = edit.moveTo === undefined ? [] : [`*** Move to: ${edit.moveTo}`];
      return [`*** Update File: ${edit.path}`, ...move, ...edit.chunks.flatMap(renderChunk)];
    }
  }
}

function renderChunk(chunk: EditChunk): string[] {
  const anchors = chunk.anchors.length === 0 ? ["@@"] : chunk.anchors.map((anchor) => `@@ ${anchor}`);
  const end = chunk.endOfFile ? ["*** End of File"] : [];
  return [...anchors, ...renderLines(chunk.before, chunk.after), ...end];
}

/** Common lines at both ends are context, the rest is removed and added. */
function renderLines(before: string[], after: string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return [
    ...before.slice(0, head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...before.slice(before.length - tail).map((line) => ` ${line}`),
  ];
}

const line = fc.oneof(
  fc.constantFrom("", " ", "@@", "@@ x", "*** End Patch", "*** End of File", "+", "-", "EOF"),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const path = fc.stringMatching(/^[a-z./-]{1,12}$/);
const anchor = fc.stringMatching(/^ ?[a-z(){}:@*]{1,12}$/);
const chunk = fc
  .record({
    anchors: fc.array(anchor, { maxLength: 3 }),
    before: fc.array(line, { maxLength: 5 }),
    after: fc.array(line, { maxLength: 5 }),
    endOfFile: fc.boolean(),
  })
  .filter(({ before, after }) => before.length + after.length > 0);

export const someEdits: fc.Arbitrary<PatchEdit[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("add" as const),
      path,
      content: fc.array(line, { maxLength: 5 }).map((lines) => lines.map((text) => `${text}\n`).join("")),
    }),
    fc.record({ kind: fc.constant("delete" as const), path }),
    fc.record({ kind: fc.constant("update" as const), path, chunks: fc.array(chunk, { minLength: 1, maxLength: 4 }) }),
    fc.record({
      kind: fc.constant("update" as const),
      path,
      moveTo: path,
      chunks: fc.array(chunk, { maxLength: 4 }),
    }),
  ),
  { minLength: 1, maxLength: 5 },
);
