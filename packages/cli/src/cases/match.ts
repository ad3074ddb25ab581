// Texts in expectations: part of what was found, or a regular expression between slashes.
import { textOf } from "./fields.ts";
import { CaseFileError, type Located } from "./located.ts";

export type Matcher = (text: string) => boolean;

/** `never changed`: contains it, whatever the white space. `/never|not/i`: a regular expression. */
export function textMatcher(value: Located, what: string): Matcher {
  const text = textOf(value, what);
  const pattern = expressionOf(text, value.line);
  if (pattern) return (found) => pattern.test(found);
  const wanted = squeezed(text);
  return (found) => squeezed(found).includes(wanted);
}

/** The whole name. */
export function nameMatcher(value: Located, what: string): Matcher {
  const text = textOf(value, what);
  const pattern = expressionOf(text, value.line);
  return pattern ? (found) => pattern.test(found) : (found) => found === text;
}

const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim();

function expressionOf(text: string, line: number): RegExp | null {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === undefined) return null;
  try {
    return new RegExp(source, flags?.replace(/[gy]/g, ""));
  } catch (error) {
    throw new CaseFileError(line, (error as Error).message);
  }
}
