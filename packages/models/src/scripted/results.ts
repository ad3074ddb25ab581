// Reads what tools answered. The model gets text only, so whatever is not plainly a success counts as a refusal.

export type CommandResult =
  | { kind: "exited"; exitCode: number; output: string }
  | { kind: "running"; sessionId: number; output: string }
  | { kind: "refused"; reason: string };

export type PatchResult = { kind: "applied" } | { kind: "refused"; reason: string };

export type FileResult = { kind: "lines"; lines: string[] } | { kind: "refused"; reason: string };

export function readCommandResult(text: string): CommandResult {
  const [head, output] = splitAtOutput(text);
  const exited = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(head);
  if (exited) return { kind: "exited", exitCode: Number(exited[1]), output };
  const running = /^Process running with session ID (\d+)$/m.exec(head);
  if (running) return { kind: "running", sessionId: Number(running[1]), output };
  return { kind: "refused", reason: reasonOf(text) };
}

export function readPatchResult(text: string): PatchResult {
  const [head, output] = splitAtOutput(text);
  const exited = /^Exit code: (-?\d+)$/m.exec(head);
  const isApplied = exited ? exited[1] === "0" : /^Success\b/.test(text);
  return isApplied ? { kind: "applied" } : { kind: "refused", reason: reasonOf(exited ? output : text) };
}

export function readFileResult(text: string): FileResult {
  const numbered = readNumberedLines(text);
  if (numbered) return { kind: "lines", lines: numbered };
  const isShort = text.split("\n").length <= 3;
  if (isShort && soundsLikeRefusal.test(text)) return { kind: "refused", reason: reasonOf(text) };
  return { kind: "lines", lines: text.replace(/\n$/, "").split("\n") };
}

const soundsLikeRefusal =
  /^(?:no such|not an? |cannot|can't|could not|failed|error|permission|denied|unsupported call|tool call blocked|interrupted|unknown|the outcome)|\b(?:does not exist|is a directory|is not a file|too large|not found|outcome (?:is )?unknown)\b/i;

/** Lines that carry their numbers, in any of the usual ways, without what stands before and after them. */
function readNumberedLines(text: string): string[] | undefined {
  const numbered = text.split("\n").map((line) => /^ *L?(\d+)(?:: ?|\t|→|\| ?)(.*)$/.exec(line));
  const first = numbered.findIndex((match) => match !== null);
  if (first < 0 || first > 1) return undefined;
  const lines: string[] = [];
  for (const match of numbered.slice(first)) {
    if (match === null || Number(match[1]) !== lines.length + 1) break;
    lines.push(match[2] ?? "");
  }
  const rest = numbered.length - first - lines.length;
  return lines.length > 0 && rest <= 2 ? lines : undefined;
}

function splitAtOutput(text: string): [head: string, output: string] {
  const at = /^Output:\n?/m.exec(text);
  return at ? [text.slice(0, at.index), text.slice(at.index + at[0].length)] : [text, ""];
}

const reasonOf = (text: string): string => text.trim() || "the tool gave no result; whether it acted is unknown";
