// Reads `.env` files: NAME=value lines, with comments, quotes and values of several lines in double or single quotes.

export interface DotenvEntry {
  name: string;
  value: string;
  /** Where it begins, from 1. */
  line: number;
}

export class DotenvError extends Error {
  override name = "DotenvError";
}

export function parseDotenv(text: string): DotenvEntry[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const entries: DotenvEntry[] = [];
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? "";
    if (/^\s*(?:#|$)/.test(line)) {
      index += 1;
      continue;
    }
    const { entry, next } = readEntry(lines, index);
    entries.push(entry);
    index = next;
  }
  return entries;
}

function readEntry(lines: string[], index: number): { entry: DotenvEntry; next: number } {
  const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(lines[index] ?? "");
  // The line itself may hold a secret.
  if (!match) throw new DotenvError(`line ${index + 1}: expected NAME=value, a comment or an empty line`);
  const [, name = "", rest = ""] = match;
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined)
    return { entry: { name, value: rest.replace(/\s+#.*$/, "").trim(), line: index + 1 }, next: index + 1 };
  for (let last = index, text = rest.slice(1); ; ) {
    const end = closingQuote(text, quote);
    if (end >= 0)
      return { entry: { name, value: unquoted(text.slice(0, end), quote), line: index + 1 }, next: last + 1 };
    last += 1;
    if (last >= lines.length) throw new DotenvError(`line ${index + 1}: the quote of ${name} is not closed`);
    text += `\n${lines[last]}`;
  }
}

function closingQuote(text: string, quote: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** Escapes have a meaning in double quotes only. Nothing is expanded: a `$` is a `$`. */
const unquoted = (text: string, quote: string): string =>
  quote === '"' ? text.replace(/\\([\s\S])/g, (_, letter: string) => escapes[letter] ?? letter) : text;
