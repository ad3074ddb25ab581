// The input agent-args: a JSON array of strings, or words as a shell would split them. Nothing is expanded.
import { StepError } from "./errors.ts";

export function parseArguments(text: string): string[] {
  return text.startsWith("[") ? parseJson(text) : splitWords(text);
}

function parseJson(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  } catch {
    // Reported below, like any other value.
  }
  throw new StepError('agent-args begins with "[" and is not a JSON array of strings.');
}

/** One word, or the quote that begins it and is not closed. */
const part = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(['"\\])/gsy;

function splitWords(text: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    const space = /^\s+/.exec(text.slice(at));
    if (space) at += space[0].length;
    if (at >= text.length) break;
    const { word, end } = readWord(text, at);
    words.push(word);
    at = end;
  }
  return words;
}

function readWord(text: string, start: number): { word: string; end: number } {
  let word = "";
  let end = start;
  part.lastIndex = start;
  for (let found = part.exec(text); found; found = part.exec(text)) {
    const [, single, double, escaped, plain, unclosed] = found;
    if (unclosed) throw new StepError(`agent-args has ${unclosed} without its end: ${text}`);
    word += single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
    end = part.lastIndex;
  }
  return { word, end };
}
