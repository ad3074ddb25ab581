// Colours for source code: comments, strings, numbers and keywords, by families of languages. Pure, and linear in the text.
export type TokenKind = "plain" | "comment" | "string" | "digits" | "word";

export interface Token {
  kind: TokenKind;
  text: string;
}

type Family = "slash" | "hash" | "dash" | "markup" | "data" | "style";

const families: [Family, RegExp][] = [
  [
    "slash",
    /\.(?:[cm]?[jt]sx?|java|kt|kts|go|rs|c|cc|cpp|cxx|h|hpp|cs|swift|scala|php|dart|zig|proto|groovy|gradle)$/i,
  ],
  ["hash", /(?:\.(?:py|rb|sh|bash|zsh|fish|pl|r|ex|exs|nix|tf|cmake|mk|ya?ml|toml|conf|cfg|env|ps1)|file)$/i],
  ["dash", /\.(?:sql|lua|hs|elm|adb|ads)$/i],
  ["markup", /\.(?:html?|xml|svg|vue|svelte|xhtml|plist|csproj)$/i],
  ["data", /\.(?:json|jsonl|json5|jsonc)$/i],
  ["style", /\.(?:css|scss|less)$/i],
];

/** Null: shown in one colour. */
export const familyOf = (path: string): Family | null =>
  families.find(([, names]) => names.test(path.split("/").at(-1) ?? ""))?.[0] ?? null;

/** What has no end goes on to the end of the text or of the line. */
const block = String.raw`\/\*[\s\S]*?(?:\*\/|$)`;
const line = (start: string) => `${start}[^\\n]*`;
const quoted = (mark: string) => String.raw`${mark}[^${mark}\\\n]*(?:\\[^\n][^${mark}\\\n]*)*(?:\\?(?=\n|$)|${mark})`;
const backquoted = "`[^`\\\\]*(?:\\\\[\\s\\S][^`\\\\]*)*(?:\\\\?$|`)";
const tripled = (mark: string) => String.raw`${mark}{3}[\s\S]*?(?:${mark}{3}|$)`;
const either = quoted('"');
const number = String.raw`\b\d[\w.]*`;
const word = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
const nothing = "(?!)";

const parts: Record<Family, { comment: string; string: string; word: string }> = {
  slash: { comment: `${line("//")}|${block}`, string: `${either}|${quoted("'")}|${backquoted}`, word },
  hash: { comment: line("#"), string: [tripled('"'), tripled("'"), either, quoted("'")].join("|"), word },
  dash: { comment: line("--"), string: `${either}|${quoted("'")}`, word },
  markup: { comment: "<!--[\\s\\S]*?(?:-->|$)", string: `${either}|${quoted("'")}`, word: "</?[\\w:-]+" },
  data: { comment: `${line("//")}|${block}`, string: either, word: "\\b(?:true|false|null)\\b" },
  style: { comment: block, string: `${either}|${quoted("'")}`, word: "[@#.][\\w-]+" },
};

const patterns = new Map<Family, RegExp>();

function patternOf(family: Family): RegExp {
  const known = patterns.get(family);
  if (known) return known;
  const { comment, string, word: words } = parts[family];
  const pattern = new RegExp(`(${comment || nothing})|(${string})|(${words})|(${number})`, "gu");
  patterns.set(family, pattern);
  return pattern;
}

const keywords = new Set(
  `abstract and as async await bool boolean break case catch char class const continue def default defer del delete do
  done echo elif else elsif end enum esac except export extends extern false False fi final finally float fn for foreach
  from func function global go goto if impl implements import in include inline instanceof int interface internal is
  lambda let long loop match mod module mut namespace new nil None nonlocal not null object of operator or out override
  package pass private protected pub public raise readonly ref require return select self set short signed sizeof static
  string struct super switch template then this throw trait true True try type typedef typeof undefined union unless
  unsafe unsigned until use using var virtual void volatile when where while with yield SELECT FROM WHERE INSERT INTO
  UPDATE DELETE CREATE TABLE INDEX ALTER DROP JOIN LEFT INNER OUTER ON GROUP BY ORDER LIMIT VALUES SET NOT NULL PRIMARY KEY
  REFERENCES AND OR AS IN IS RUN COPY WORKDIR ENV EXPOSE CMD ENTRYPOINT ARG`.split(/\s+/),
);

/** The tokens of each line; together they are the text. */
export function highlight(text: string, family: Family | null): Token[][] {
  const lines: Token[][] = [[]];
  const add = (kind: TokenKind, value: string) => {
    for (const [index, part] of value.split("\n").entries()) {
      if (index > 0) lines.push([]);
      const last = lines.at(-1);
      const before = last?.at(-1);
      if (before?.kind === kind) before.text += part;
      else if (part !== "") last?.push({ kind, text: part });
    }
  };
  let at = 0;
  for (const found of family === null ? [] : text.matchAll(patternOf(family))) {
    add("plain", text.slice(at, found.index));
    add(kindOf(found, family), found[0]);
    at = found.index + found[0].length;
  }
  add("plain", text.slice(at));
  return lines;
}

function kindOf([, comment, string, name]: RegExpMatchArray, family: Family | null): TokenKind {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (name === undefined) return "digits";
  const isKeyword = family === "slash" || family === "hash" || family === "dash" ? keywords.has(name) : true;
  return isKeyword ? "word" : "plain";
}
