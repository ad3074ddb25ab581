// Removes invisible characters, found by Unicode property. Those that visible emoji and letters need stay.
import type { RemovalKind, Removals } from "./removals.ts";

const plain = /^[\n\t\x20-\x7e]*$/;
const candidates = /[\p{Cf}\p{Cc}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/** Idempotent. */
export function stripCharacters(text: string, removals: Removals): string {
  if (plain.test(text)) return text;
  const kept: string[] = [];
  let before = "";
  let at = 0;
  const keep = (piece: string) => {
    kept.push(piece);
    before = (before + piece).slice(-maxContextLength);
  };
  for (const run of text.matchAll(new RegExp(`${candidates.source}+`, "gu"))) {
    keep(text.slice(at, run.index));
    at = run.index + run[0].length;
    keepNeeded(run[0], { removals, after: text.slice(at, at + 2), before: () => before, keep });
  }
  kept.push(text.slice(at));
  return kept.join("");
}

export const hiddenKind = (character: string): RemovalKind | null =>
  character !== "\n" && character !== "\t" && candidates.test(character) && !isVisibleMark(character)
    ? kindOf(character)
    : null;

interface RunContext {
  removals: Removals;
  /** The character after the run. */
  after: string;
  /** The end of the kept text so far. */
  before(): string;
  keep(piece: string): void;
}

const maxContextLength = 24;

/** Within a run of hidden characters, keeps those that belong to the visible text around them. */
function keepNeeded(run: string, { removals, after, before, keep }: RunContext): void {
  let tags = "";
  const reportTags = () => {
    if (tags !== "") removals.add("tag-character", tags);
    tags = "";
  };
  const characters = [...run];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? "";
    const next = characters.slice(index + 1, index + 2).join("") || after;
    const flag = flagTags(before(), characters, index);
    if (flag) {
      keep(flag);
      index += flag.length / 2 - 1;
    } else if (isLineEnd(character, next)) keep("\n");
    else if (isNeeded(character, before(), next)) keep(character);
    else if (character !== "\r" && kindOf(character) === "tag-character") tags += character;
    else if (character !== "\r") removals.add(kindOf(character), character);
  }
  reportTags();
}

/** The three flags that use tag characters; any other sequence is hidden text. */
const flags = ["gbeng", "gbsct", "gbwls"].map(
  (region) => `${[...region].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")}\u{e007f}`,
);

function flagTags(before: string, characters: string[], index: number): string | null {
  if (!before.endsWith("\u{1f3f4}")) return null;
  const following = characters.slice(index, index + 6).join("");
  return flags.find((flag) => following.startsWith(flag)) ?? null;
}

/** Line ends of other systems are converted; they are not hidden text. */
const isLineEnd = (character: string, next: string): boolean => character === "\r" && !next.startsWith("\n");

function isNeeded(character: string, before: string, next: string): boolean {
  if (character === "\n" || character === "\t" || isVisibleMark(character)) return true;
  if (character === "\ufe0f") return emojiBase.test(before) || (keycap.test(before) && next.startsWith("\u20e3"));
  if (character === "\u200d" && joinable.test(before) && startsWithEmoji.test(next)) return true;
  if (!isJoiner(character)) return false;
  joining ??= joiningPatterns();
  return joining.end.test(before) && joining.start.test(next);
}

const emojiBase = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})$/u;
const keycap = /[0-9#*]$/;
const joinable = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u;
const startsWithEmoji = /^(?!\p{Cn})\p{Extended_Pictographic}/u;
const isJoiner = (character: string): boolean => character === "\u200c" || character === "\u200d";

/** Scripts whose letters change shape when joined. */
const joiningScripts = [
  ...["Arabic", "Syriac", "Nko", "Mongolian", "Mandaic", "Adlam", "Hanifi_Rohingya"],
  ...["Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam"],
  ...["Sinhala", "Khmer", "Myanmar", "Tibetan", "Balinese", "Javanese"],
];

/** Created when first needed: these classes take milliseconds, and most texts contain no joiner. */
let joining: { start: RegExp; end: RegExp } | undefined;

function joiningPatterns(): { start: RegExp; end: RegExp } {
  const scripts = joiningScripts.map((script) => `\\p{Script=${script}}`).join("");
  const letter = `(?=[\\p{L}\\p{M}])(?!\\p{Default_Ignorable_Code_Point})[${scripts}]`;
  return { start: new RegExp(`^${letter}`, "u"), end: new RegExp(`${letter}$`, "u") };
}

/** Visible although of category format: signs that span the digits after them. */
const isVisibleMark = (character: string): boolean =>
  /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u.test(character);

function kindOf(character: string): RemovalKind {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xe0000 && code <= 0xe007f) return "tag-character";
  return kinds.find(([, pattern]) => pattern.test(character))?.[0] ?? "ignorable-character";
}

const kinds: [RemovalKind, RegExp][] = [
  ["lone-surrogate", /\p{Cs}/u],
  ["variation-selector", /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u],
  ["bidi-control", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u],
  ["zero-width", /[\u200b-\u200d\u2060\ufeff]/u],
  ["control-character", /\p{Cc}/u],
  ["private-use", /\p{Co}/u],
  ["unassigned", /\p{Cn}/u],
  ["format-character", /\p{Cf}/u],
];
