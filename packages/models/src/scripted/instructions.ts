// Reads a prompt as a list of steps. Accepts any text and never throws: an unreadable sentence is `unclear`.
import { readSentence, type Step } from "./forms.ts";
import { anyToken, fenceToken, type Masked, maskQuotations } from "./quoting.ts";

export interface Instruction {
  /** The sentence as written. */
  text: string;
  step: Step;
}

export function readInstructions(prompt: string): Instruction[] {
  const masked = maskQuotations(prompt.replace(/\r\n?/g, "\n"));
  return linesOf(masked)
    .flatMap((line) => splitAtThen(line))
    .flatMap((piece) => splitSentences(piece, masked))
    .filter((sentence) => /\w/.test(masked.restore(sentence)))
    .map((sentence) => ({ text: masked.restore(sentence).trim(), step: readSentence(sentence, masked) }));
}

/** The numbered lines of a skill's text, each with the lines that continue it. */
export function readProcedure(text: string): string[] {
  const items: string[][] = [];
  let isFenced = false;
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    const numbered = isFenced ? null : /^ {0,3}\d{1,3}[.)]\s+(.*)$/.exec(line);
    if (numbered) items.push([numbered[1] ?? ""]);
    else if (/^\s+\S/.test(line) || isFenced || /^\s*(```|~~~)/.test(line)) items.at(-1)?.push(line);
  }
  return items.map((lines) => (lines.some((line) => /^\s*(```|~~~)/.test(line)) ? lines.join("\n") : joinLines(lines)));
}

const joinLines = (lines: string[]): string => lines.map((line) => line.trim()).join(" ");

const marker = /^\s*(?:\d{1,3}[.)]|[-*•])\s+(?!\[[ x]\])/;
const announcesText = /\b(?:containing|contents?|text|lines?|following|with|says|reads)\s*:?$/i;

/** One instruction per line; a fence belongs to the line before it, and so does text after "containing:". */
function linesOf(masked: Masked): string[] {
  const attached = masked.text.replace(new RegExp(`(?<!\\s)\\s+(?=${fenceToken.source})`, "g"), " ");
  const groups: string[][] = [];
  for (const line of attached.split("\n")) {
    const last = groups.at(-1);
    if (last?.[0] && announcesText.test(last[0].trimEnd()) && !startsInstruction(line, masked)) last.push(line);
    else if (line.trim() !== "") groups.push([line.replace(marker, "")]);
  }
  return groups.map((lines) => lines.join("\n").trimEnd());
}

const startsInstruction = (line: string, masked: Masked): boolean =>
  /^\s*\d{1,3}[.)]\s/.test(line) || readSentence(line.trim().replace(/^then,?\s+/i, ""), masked).kind !== "unclear";

function splitAtThen(line: string): string[] {
  if (/^if\b/i.test(line.trim())) return [line];
  return line.split(/(?:[,;.]\s+|(?<!\s)\s+)(?:and\s+)?then,?\s+|^then,?\s+/i);
}

/** Splits at a full stop, a semicolon or "and" if both sides are readable: unquoted text may contain any of them. */
function splitSentences(piece: string, masked: Masked): string[] {
  if (piece.length > maxPieceLength) return [piece];
  const sentences: string[] = [];
  let start = 0;
  for (const boundary of piece.matchAll(/[.;]\s+|,?\s+and\s+/gi)) {
    const left = piece.slice(start, boundary.index);
    const next = boundary.index + boundary[0].length;
    if (!canEnd(left, boundary[0], masked) || !canBegin(piece.slice(next), masked)) continue;
    sentences.push(left);
    start = next;
  }
  return [...sentences, piece.slice(start)];
}

// Reading both sides of every boundary is quadratic, and prose this long is not a list of instructions.
const maxPieceLength = 2_000;

function canEnd(left: string, boundary: string, masked: Masked): boolean {
  if (/[.;]/.test(boundary)) return true;
  const { kind } = readSentence(left, masked);
  const endsWithQuotation = new RegExp(`${anyToken.source}$`).test(left);
  return kind !== "unclear" && (endsWithQuotation || ["delete", "move", "read", "repair"].includes(kind));
}

const canBegin = (right: string, masked: Masked): boolean =>
  [right, right.split(/[.;]\s/)[0] ?? right].some((sentence) => readSentence(sentence, masked).kind !== "unclear");
