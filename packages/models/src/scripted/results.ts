// Parses the output of tools. The model gets text only, so anything that is not clearly a success counts as a refusal.

export type CommandResult =
  | { kind: "exited"; exitCode: number; output: string }
  | { kind: "running"; sessionId: number; output: string }
  | { kind: "refused"; reason: string };

export type PatchResult = { kind: "applied" } | { kind: "refused"; reason: string };

export type FileResult = { kind: "lines"; lines: string[]; more: boolean } | { kind: "refused"; reason: string };

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

/** Lines in the format of read_file, `7: text`. Text without consecutive numbers from `firstLine` is not a file. */
export function readFileResult(text: string, firstLine: number): FileResult {
  if (text === "[the file is empty]") return { kind: "lines", lines: [], more: false };
  const more = /\n\[\d+ more lines?;[^\n]*\]$/.exec(text);
  const numbered = (more ? text.slice(0, more.index) : text).split("\n").map((line) => /^(\d+): (.*)$/.exec(line));
  const isWhole = numbered.every((match, index) => match !== null && Number(match[1]) === firstLine + index);
  if (!isWhole) return { kind: "refused", reason: reasonOf(text) };
  return { kind: "lines", lines: numbered.map((match) => match?.[2] ?? ""), more: more !== null };
}

function splitAtOutput(text: string): [head: string, output: string] {
  const at = /^Output:\n?/m.exec(text);
  return at ? [text.slice(0, at.index), text.slice(at.index + at[0].length)] : [text, ""];
}

const reasonOf = (text: string): string => text.trim() || "the tool gave no result; whether it acted is unknown";
