// Which bracket closes which, and which one a token is in: found in one pass, since code may be large.
import type { Token } from "./code-tokens.ts";

interface Brackets {
  /** Of an opening bracket the closing one, and the other way; -1 where there is none. */
  partners: Int32Array;
  /** The opening bracket that a token is in; -1 for none. */
  parents: Int32Array;
}

const known = new WeakMap<Token[], Brackets>();

function bracketsOf(tokens: Token[]): Brackets {
  const found = known.get(tokens);
  if (found) return found;
  const brackets = { partners: new Int32Array(tokens.length).fill(-1), parents: new Int32Array(tokens.length) };
  const open: number[] = [];
  tokens.forEach(({ kind, text }, at) => {
    const isClosing = kind === "sign" && /^[)\]}]$/.test(text);
    const opening = isClosing ? open.pop() : undefined;
    if (opening !== undefined) {
      brackets.partners[at] = opening;
      brackets.partners[opening] = at;
    }
    brackets.parents[at] = open.at(-1) ?? -1;
    if (kind === "sign" && /^[([{]$/.test(text)) open.push(at);
  });
  known.set(tokens, brackets);
  return brackets;
}

/** Behind the last token, if it is never closed. */
export function closingOf(tokens: Token[], opening: number): number {
  const partner = bracketsOf(tokens).partners[opening] ?? -1;
  return partner < 0 ? tokens.length : partner;
}

/** The first token, if it was never opened. */
export const openingOf = (tokens: Token[], closing: number): number =>
  Math.max(0, bracketsOf(tokens).partners[closing] ?? -1);

/** The opening bracket that a token is in; -1 for none. */
export const enclosingOf = (tokens: Token[], at: number): number => bracketsOf(tokens).parents[at] ?? -1;
