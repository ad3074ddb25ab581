// Members whose names only the run shows. By one of them code reaches the constructor of functions, which evaluates text, or
// the prototype of all objects, from which options of processes are read.
import { readArguments, unknownStart } from "./code-calls.ts";
import type { Token } from "./code-tokens.ts";
import { isMember, nameAt, signAt } from "./javascript-globals.ts";

/** They reach members by names that are data, or change what all objects have. */
const reflection =
  /^(?:Reflect|getOwnPropertyDescriptors?|getPrototypeOf|setPrototypeOf|defineProperty|defineProperties|__\w+__)$/;

export function checkMembers(tokens: Token[]): void {
  const unknownNames = new Set<string>();
  tokens.forEach((token, at) => {
    if (token.kind === "name") checkReflection(tokens, at);
    if (isIndex(tokens, at)) checkIndex(tokens, at, unknownNames);
    if (isComputedKey(tokens, at)) throw unknownStart(tokens.slice(at, at + 4));
  });
  tokens.forEach((token, at) => {
    if (token.kind === "name" && unknownNames.has(token.text) && !isMember(tokens, at) && isCalled(tokens, at))
      throw unknownStart(tokens.slice(at, at + 3));
  });
}

/** `Object.prototype.hasOwnProperty.call(a, b)` is the only use of a prototype. */
function checkReflection(tokens: Token[], at: number): void {
  const { text } = tokens[at] as Token;
  const isCall =
    isMember(tokens, at + 2) && isMember(tokens, at + 4) && /^(?:call|apply)$/.test(nameAt(tokens, at + 4));
  const isPrototype = text === "prototype" && isMember(tokens, at) && !(isCall && signAt(tokens, at + 5) === "(");
  if (isPrototype || (reflection.test(text) && !/^__(?:dirname|filename)$/.test(text)))
    throw unknownStart(tokens.slice(Math.max(0, at - 2), at + 4));
}

/** `[` behind something that has members. */
export function isIndex(tokens: Token[], at: number): boolean {
  if (signAt(tokens, at) !== "[") return false;
  const before = tokens[at - 1];
  if (before === undefined || before.kind === "pattern") return false;
  if (before.kind === "name") return isMember(tokens, at - 1) || !keyword.test(before.text);
  return before.kind !== "sign" || /^(?:[)\]}]|\?\.)$/.test(before.text);
}

const keyword =
  /^(?:return|typeof|case|in|of|new|delete|void|throw|else|do|instanceof|yield|await|default|extends|const|let|var|import|export)$/;

function checkIndex(tokens: Token[], at: number, unknownNames: Set<string>): void {
  const key = keyAt(tokens, at);
  if (isComposed(key.tokens)) throw unknownStart(tokens.slice(Math.max(0, at - 1), key.end + 1));
  if (isKnown(key.tokens)) return;
  const next = signAt(tokens, key.end + 1);
  const isStarted = next === "(" || (next === "?." && signAt(tokens, key.end + 2) === "(");
  const start = chainStart(tokens, at);
  const isNew = nameAt(tokens, start - 1) === "new";
  const isNested = isUnknownIndexEnd(tokens, at - 1) && /^(?:[-+*/%&|^?<>]*)=$/.test(next);
  if (isStarted || isNew || isNested || tokens[key.end + 1]?.text.startsWith("`"))
    throw unknownStart(tokens.slice(start, key.end + 2));
  if (signAt(tokens, start - 1) === "=") unknownNames.add(nameAt(tokens, start - 2));
}

const keyAt = (tokens: Token[], at: number): { tokens: Token[]; end: number } => {
  const { end } = readArguments(tokens, at);
  return { tokens: tokens.slice(at + 1, end), end };
};

/** A string and something that makes another one of it. */
const isComposed = (key: Token[]): boolean =>
  key.some(({ kind }) => kind === "string") &&
  (key.some(({ kind, text }) => kind === "sign" && /^[+(]$/.test(text)) ||
    key.some(({ kind, value }) => kind === "string" && value === null));

/** Numbers, and strings, which are looked at elsewhere. */
const isKnown = (key: Token[]): boolean =>
  key.length === 1 && (key[0]?.kind === "number" || (key[0]?.kind === "string" && key[0].value !== null));

function isUnknownIndexEnd(tokens: Token[], end: number): boolean {
  if (signAt(tokens, end) !== "]") return false;
  const open = openingOf(tokens, end);
  return isIndex(tokens, open) && !isKnown(tokens.slice(open + 1, end));
}

/** Where `a.b(c)[d]` begins; `at` is a bracket in it. */
function chainStart(tokens: Token[], at: number): number {
  let start = at;
  for (;;) {
    const before = tokens[start - 1];
    if (before === undefined) return start;
    if (before.kind === "sign" && /^[)\]}]$/.test(before.text)) start = openingOf(tokens, start - 1);
    else if (before.kind === "name" && !keyword.test(before.text)) start--;
    else if (before.kind === "sign" && /^\??\.$/.test(before.text)) start--;
    else if (before.kind === "string") start--;
    else return start;
  }
}

/** The bracket that the one at `end` closes. */
export function openingOf(tokens: Token[], end: number): number {
  let depth = 0;
  for (let at = end; at >= 0; at--) {
    if (/^[)\]}]$/.test(signAt(tokens, at))) depth++;
    if (/^[([{]$/.test(signAt(tokens, at)) && --depth === 0) return at;
  }
  return 0;
}

/** `{ [name]: value } = object`: takes a member whose name is not known. */
function isComputedKey(tokens: Token[], at: number): boolean {
  if (signAt(tokens, at) !== "[" || !/^[{,]$/.test(signAt(tokens, at - 1))) return false;
  const { end } = readArguments(tokens, at);
  if (signAt(tokens, end + 1) !== ":" || isKnown(tokens.slice(at + 1, end))) return false;
  let close = end;
  for (let depth = 1; close < tokens.length && depth > 0; ) {
    close++;
    if (/^[([{]$/.test(signAt(tokens, close))) depth++;
    if (/^[)\]}]$/.test(signAt(tokens, close))) depth--;
  }
  return signAt(tokens, close + 1) === "=" || /^(?:of|in)$/.test(nameAt(tokens, close + 1));
}

const isCalled = (tokens: Token[], at: number): boolean =>
  signAt(tokens, at + 1) === "(" ||
  (signAt(tokens, at + 1) === "?." && signAt(tokens, at + 2) === "(") ||
  tokens[at + 1]?.text.startsWith("`") === true ||
  nameAt(tokens, at - 1) === "new";
