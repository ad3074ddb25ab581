// Members whose names only the run shows. By one of them code reaches the constructor of functions, which evaluates text, or
// the prototype of all objects, from which options of processes are read.
import { closingOf, enclosingOf, openingOf } from "./code-brackets.ts";
import { unknownStart } from "./code-calls.ts";
import type { Token } from "./code-tokens.ts";
import { isMember, nameAt, signAt } from "./javascript-globals.ts";

/** They reach members by names that are data, or change what all objects have. */
const reflection =
  /^(?:Reflect|getOwnPropertyDescriptors?|getPrototypeOf|setPrototypeOf|defineProperty|defineProperties|__\w+__)$/;

/** Deeper than code that people write; each level is looked at with all that is in it. */
const maxIndexDepth = 50;

export function checkMembers(tokens: Token[]): void {
  const unknownNames = new Set<string>();
  const starts = new Map<number, number>();
  const ends: number[] = [];
  tokens.forEach((token, at) => {
    if (token.kind === "name") checkReflection(tokens, at);
    while (at > (ends.at(-1) ?? Number.POSITIVE_INFINITY)) ends.pop();
    if (isIndex(tokens, at)) {
      if (ends.push(closingOf(tokens, at)) > maxIndexDepth) throw unknownStart(tokens.slice(at - 1, at + 3));
      checkIndex(tokens, at, { unknownNames, starts });
    }
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

interface Found {
  /** Names of variables that hold a member whose name is not known. */
  unknownNames: Set<string>;
  /** Where the chain of each index begins. */
  starts: Map<number, number>;
}

function checkIndex(tokens: Token[], at: number, { unknownNames, starts }: Found): void {
  const key = keyAt(tokens, at);
  if (isComposed(key.tokens)) throw unknownStart(tokens.slice(Math.max(0, at - 1), key.end + 1));
  if (isKnown(key.tokens)) return;
  const next = signAt(tokens, key.end + 1);
  const isStarted = next === "(" || (next === "?." && signAt(tokens, key.end + 2) === "(");
  const start = chainStart(tokens, at, starts);
  const isNew = nameAt(tokens, start - 1) === "new";
  const isNested = isUnknownIndexEnd(tokens, at - 1) && /^(?:[-+*/%&|^?<>]*)=$/.test(next);
  if (isStarted || isNew || isNested || tokens[key.end + 1]?.text.startsWith("`"))
    throw unknownStart(tokens.slice(start, key.end + 2));
  if (signAt(tokens, start - 1) === "=") unknownNames.add(nameAt(tokens, start - 2));
}

const keyAt = (tokens: Token[], at: number): { tokens: Token[]; end: number } => {
  const end = closingOf(tokens, at);
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
function chainStart(tokens: Token[], at: number, starts: Map<number, number>): number {
  let start = at;
  for (let next = beforeInChain(tokens, start); next !== null; next = beforeInChain(tokens, start)) {
    start = starts.get(next) ?? next;
    if (starts.has(next)) break;
  }
  starts.set(at, start);
  return start;
}

/** Where the part of the chain in front of this one begins; null: there is none. */
function beforeInChain(tokens: Token[], start: number): number | null {
  const before = tokens[start - 1];
  if (before?.kind === "sign" && /^[)\]}]$/.test(before.text)) return openingOf(tokens, start - 1);
  const isPart =
    before?.kind === "string" ||
    (before?.kind === "name" && !keyword.test(before.text)) ||
    (before?.kind === "sign" && /^\??\.$/.test(before.text));
  return isPart ? start - 1 : null;
}

/** `{ [name]: value } = object`: takes a member whose name is not known. */
function isComputedKey(tokens: Token[], at: number): boolean {
  if (signAt(tokens, at) !== "[" || !/^[{,]$/.test(signAt(tokens, at - 1))) return false;
  const end = closingOf(tokens, at);
  if (signAt(tokens, end + 1) !== ":" || isKnown(tokens.slice(at + 1, end))) return false;
  const enclosing = enclosingOf(tokens, at);
  const close = enclosing < 0 ? tokens.length : closingOf(tokens, enclosing);
  return signAt(tokens, close + 1) === "=" || /^(?:of|in)$/.test(nameAt(tokens, close + 1));
}

const isCalled = (tokens: Token[], at: number): boolean =>
  signAt(tokens, at + 1) === "(" ||
  (signAt(tokens, at + 1) === "?." && signAt(tokens, at + 2) === "(") ||
  tokens[at + 1]?.text.startsWith("`") === true ||
  nameAt(tokens, at - 1) === "new";
