// Removes character references such as &#8203; to hidden characters, and escape sequences of terminals.
import { hiddenKind } from "./characters.ts";
import type { Removals } from "./removals.ts";

/** Runs before single characters are checked: an escape sequence without its first character would be noise. */
export function stripEscapes(text: string, removals: Removals): string {
  if (!/[\x1b\x9b]/.test(text)) return text;
  return text.replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, (removed) => {
    removals.add("terminal-escape", removed);
    return "";
  });
}

export function stripReferences(text: string, removals: Removals): string {
  if (!text.includes("&")) return text;
  return text.replace(reference, (written) => {
    const character = decodeReference(written);
    if (character === null || hiddenKind(character) === null) return written;
    removals.add("character-reference", written);
    return "";
  });
}

/** Replaces references by their characters; unknown ones stay. */
export const decodeReferences = (text: string): string =>
  text.includes("&") ? text.replace(reference, (written) => decodeReference(written) ?? written) : text;

const reference = /&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]{1,31});?/g;

function decodeReference(written: string): string | null {
  const body = written.slice(1).replace(/;$/, "");
  if (!body.startsWith("#")) return named[body] ?? null;
  const code = /^#[xX]/.test(body) ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : null;
}

/** References to hidden characters, and references that could disguise a style. */
const named: Record<string, string> = {
  zwj: "\u200d",
  zwnj: "\u200c",
  lrm: "\u200e",
  rlm: "\u200f",
  shy: "\u00ad",
  ZeroWidthSpace: "\u200b",
  NegativeVeryThinSpace: "\u200b",
  NegativeThinSpace: "\u200b",
  NegativeMediumSpace: "\u200b",
  NegativeThickSpace: "\u200b",
  NoBreak: "\u2060",
  ApplyFunction: "\u2061",
  af: "\u2061",
  InvisibleTimes: "\u2062",
  it: "\u2062",
  InvisibleComma: "\u2063",
  ic: "\u2063",
  colon: ":",
  semi: ";",
  num: "#",
  period: ".",
  lpar: "(",
  rpar: ")",
  Tab: "\t",
  nbsp: "\u00a0",
  NewLine: "\n",
};
