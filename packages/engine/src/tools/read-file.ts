// Reads lines of text files, numbered. Ends at a line, and names the next one.
import type { Outcome, ReadResult, ToolArguments } from "@agentcli/protocol";
import { estimateText } from "../state/tokens.ts";
import { lineWord } from "./process-report.ts";
import { completed, failed, type ToolContext } from "./tool.ts";

interface Range {
  path: string;
  offset: number;
  limit: number;
}

export async function readFile(
  { path, files, ...range }: ToolArguments["read_file"],
  context: ToolContext,
): Promise<Outcome> {
  const wanted = [...(path === undefined ? [] : [{ path, ...range }]), ...(files ?? [])].slice(0, maxRanges);
  const ranges = wanted.map(({ path, offset, limit }) => ({
    path,
    offset: wholeAtLeastOne(offset ?? 1),
    limit: wholeAtLeastOne(limit ?? 2_000),
  }));
  if (ranges.length === 0) return failed("read_file: give a path, or files with a path each");
  const { files: read } = await context.workspace.read({ files: ranges.map((each) => ({ ...each, as: "lines" })) });
  const [first] = ranges;
  if (ranges.length === 1 && first) {
    const text = textOf(read[0], first, context.outputTokens);
    return text.kind === "fault" ? failed(text.text) : completed(text.text);
  }
  return completed(shareOut(ranges, read, context.outputTokens));
}

const maxRanges = 50;

type FileRead = ReadResult["files"][number];

/** Each gets the same room; what one does not need goes to those behind it. */
function shareOut(ranges: Range[], read: FileRead[], maxTokens: number): string {
  let left = maxTokens;
  const texts = ranges.map((range, index) => {
    const { text } = textOf(read[index], range, Math.floor(left / (ranges.length - index)));
    left = Math.max(0, left - estimateText(text));
    return `==> ${range.path} <==\n${text}`;
  });
  return texts.join("\n\n");
}

function textOf(
  file: FileRead | undefined,
  { path }: Range,
  maxTokens: number,
): { kind: "text" | "fault"; text: string } {
  if (!file || file.kind === "fault") return { kind: "fault", text: file?.message ?? `${path} could not be read` };
  if (file.kind !== "lines") return { kind: "fault", text: `${path} could not be read as text` };
  if (file.lines.length === 0) return { kind: "text", text: emptyRange(file.totalLines) };
  const shown = fittingLines(file.lines, file.firstLine, maxTokens);
  const next = file.firstLine + shown.length;
  const left = file.totalLines - next + 1;
  const more = left > 0 ? `\n[${left} more ${lineWord(left)}; read on with offset ${next}]` : "";
  return { kind: "text", text: shown.join("\n") + more };
}

/** At least one, so that reading on makes progress. */
function fittingLines(lines: string[], firstLine: number, maxTokens: number): string[] {
  const shown: string[] = [];
  let left = maxTokens;
  for (const [index, line] of lines.entries()) {
    const numbered = `${firstLine + index}: ${line}`;
    left -= estimateText(`${numbered}\n`);
    if (left < 0 && shown.length > 0) break;
    shown.push(numbered);
  }
  return shown;
}

const emptyRange = (total: number): string =>
  total === 0 ? "[the file is empty]" : `[the file has ${total} ${lineWord(total)}, none in that range]`;

export const wholeAtLeastOne = (value: number): number => Math.max(1, Math.floor(value));
