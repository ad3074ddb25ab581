// Code in colours: comments, strings, numbers and the words that most languages share. One rule for all, in linear time.
import { type Line, type Style, span } from "./line.ts";

const keywords = new Set(
  `abstract and as assert async await begin bool boolean break case catch char class const continue def default defer del
  do done double elif else end enum esac except export extends extern false fi final finally float fn for from func function
  global go if impl implements import in include int interface is lambda let local long loop match mod module mut
  namespace new nil none None not null or package pass private protected pub public raise ref require return self static
  string struct super switch then this throw trait true True False try type typeof undefined union unless until use using
  val var void when where while with yield select insert update delete into values from where join on group by order limit
  create table alter drop primary key index`.split(/\s+/),
);

const styles = {
  comment: { dim: true, italic: true },
  string: { color: "green" },
  number: { color: "magenta" },
  keyword: { color: "blue" },
  key: { color: "cyan" },
} as const satisfies Record<string, Style>;

const slashed =
  /^(?:js|jsx|ts|tsx|java|c|cc|cpp|h|hpp|cs|go|rust|rs|swift|kotlin|kt|scala|php|css|scss|proto|json5?|jsonc|typescript|javascript)$/i;
const dashed = /^(?:sql|lua|haskell|hs|ada)$/i;

/** `language` is what the fence names; unknown ones are treated like a shell. */
export function highlight(code: string, language: string): Line {
  if (language === "diff" || language === "patch") return diffLine(code);
  if (/^(?:text|txt|plain|console|output|)$/i.test(language)) return [span(code)];
  const comment = slashed.test(language)
    ? "\\/\\/.*|\\/\\*.*?(?:\\*\\/|$)"
    : dashed.test(language)
      ? "--.*"
      : "(?:^|(?<=\\s))#.*";
  const token = new RegExp(
    `(${comment})|("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\`[^\`]*\`?)|\\b(\\d[\\d_.xXa-fA-F]*)\\b|([A-Za-z_$][\\w$]*)`,
    "g",
  );
  const line: Line = [];
  let at = 0;
  for (const found of code.matchAll(token)) {
    const style = styleOf(found, code);
    if (!style) continue;
    line.push(span(code.slice(at, found.index)), span(found[0], style));
    at = found.index + found[0].length;
  }
  return [...line, span(code.slice(at))].filter(({ text }) => text !== "");
}

function styleOf(found: RegExpMatchArray, code: string): Style | null {
  const [whole, comment, text, number, word] = found;
  if (comment !== undefined) return styles.comment;
  if (text !== undefined) return isKey(code, (found.index ?? 0) + whole.length) ? styles.key : styles.string;
  if (number !== undefined) return styles.number;
  return word !== undefined && keywords.has(word) ? styles.keyword : null;
}

const isKey = (code: string, end: number): boolean => /^\s*:/.test(code.slice(end, end + 8));

/** A line of a unified diff. */
export function diffLine(line: string): Line {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return [span(line, { bold: true })];
  if (line.startsWith("@@")) return [span(line, { color: "cyan" })];
  if (line.startsWith("+")) return [span(line, { color: "green" })];
  return line.startsWith("-") ? [span(line, { color: "red" })] : [span(line)];
}
