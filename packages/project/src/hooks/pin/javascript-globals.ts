// `process`, its variables, and other global names of JavaScript by which everything could be reached.
import { closingOf, enclosingOf } from "./code-brackets.ts";
import { checkVariables, unknownStart } from "./code-calls.ts";
import type { Token } from "./code-tokens.ts";
import type { Variables } from "./shell-reader.ts";

export const signAt = (tokens: Token[], at: number): string => {
  const token = tokens[at];
  return token?.kind === "sign" ? token.text : "";
};
export const nameAt = (tokens: Token[], at: number): string => {
  const token = tokens[at];
  return token?.kind === "name" ? token.text : "";
};
export const isMember = (tokens: Token[], at: number): boolean => /^\??\.$/.test(signAt(tokens, at - 1));

/** They are used for one of their members; a function or a key may have the same name. */
export function checkGlobal(tokens: Token[], at: number): void {
  if (isMember(tokens, at) && !/^(?:globalThis|global)$/.test(nameAt(tokens, at - 2))) return;
  const next = signAt(tokens, at + 1);
  const isUsed = isMember(tokens, at + 2) && nameAt(tokens, at + 2) !== "valueOf";
  const isKey = next === ":" && /^[{,]$/.test(signAt(tokens, at - 1));
  const isDeclared = /^(?:function|typeof|import|as)$/.test(nameAt(tokens, at - 1));
  if (isUsed || isKey || isDeclared || next === "(" || next === "=") return;
  throw unknownStart(tokens.slice(Math.max(0, at - 2), at + 4));
}

/** Variables are read, copied, handed on as they are, or set if they make no program load anything. `at` is `env`. */
export function checkEnvironment(tokens: Token[], at: number, variables: Variables): void {
  const shown = tokens.slice(at - 2, at + 5);
  const next = signAt(tokens, at + 1);
  const isComputed = next === "[" || (next === "?." && signAt(tokens, at + 2) === "[");
  if (!isComputed && !isMember(tokens, at + 2)) {
    if (!isHandedOn(tokens, at)) throw unknownStart(shown);
    return;
  }
  const open = next === "[" ? at + 1 : at + 2;
  const end = isComputed ? closingOf(tokens, open) : at + 2;
  const isText = isComputed && end === open + 2;
  const name = isComputed ? (isText ? (tokens[open + 1]?.value ?? null) : null) : nameAt(tokens, end);
  if (signAt(tokens, end + 1) === "(" || /^(?:__\w+__|valueOf)$/.test(name ?? "")) throw unknownStart(shown);
  const isCounted = /^(?:\+\+|--)$/.test(signAt(tokens, at - 3)) || nameAt(tokens, at - 3) === "delete";
  const isEach = /^(?:of|in)$/.test(nameAt(tokens, end + 1)) && /^(?:for|await)$/.test(nameAt(tokens, at - 4));
  if (isCounted || isEach || assignment.test(signsFrom(tokens, end + 1)) || isInTarget(tokens, at - 2))
    checkVariables([name], tokens[at - 2]?.at ?? 0, variables);
}

/** `[process.env.A] = …`, `({ a: process.env.A } = …)`, `(process.env.A) = …`, `for ([process.env.A] of …)`; not an index or an argument. */
function isInTarget(tokens: Token[], start: number): boolean {
  let part = start;
  for (let open = enclosingOf(tokens, start); open >= 0; open = enclosingOf(tokens, open)) {
    // An initial value, or an operand of one.
    if (!/^(?:[[({,:]|\.{3})$/.test(signAt(tokens, part - 1))) return false;
    const before = tokens[open - 1];
    const isOperand =
      before && (before.kind === "sign" ? /^[)\]]$/.test(before.text) : !beforeTarget.test(before.text));
    if (signAt(tokens, open) !== "{" && isOperand) return false;
    const end = closingOf(tokens, open);
    const isChanged = /^(?:\+\+|--)$/.test(signAt(tokens, open - 1)) || nameAt(tokens, open - 1) === "delete";
    const isEach = /^(?:of|in)$/.test(nameAt(tokens, end + 1));
    if (isChanged || isEach || assignment.test(signsFrom(tokens, end + 1))) return true;
    part = open;
  }
  return false;
}

const beforeTarget = /^(?:const|let|var|of|in|return|await|yield|else|do|typeof|void|delete|case|default|export)$/;

const assignment = /^(?:\+\+|--|(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])?=(?![=>]))/;

/** The signs that follow each other without a space: `??=` is read as two. */
function signsFrom(tokens: Token[], start: number): string {
  let text = signAt(tokens, start);
  for (let at = start; text !== "" && signAt(tokens, at + 1) !== ""; at++) {
    const { at: begin, text: sign } = tokens[at] as Token;
    if (begin + sign.length !== tokens[at + 1]?.at) break;
    text += signAt(tokens, at + 1);
  }
  return text;
}

/** `...process.env`, `{ env: process.env }`, `"NAME" in process.env`, `const { NAME } = process.env` */
function isHandedOn(tokens: Token[], at: number): boolean {
  const before = signAt(tokens, at - 3);
  if (before === "..." || nameAt(tokens, at - 3) === "in") return true;
  if (before === ":") return nameAt(tokens, at - 4) === "env";
  if (before !== "=" || signAt(tokens, at - 4) !== "}") return false;
  let open = at - 4;
  for (let depth = 0; open >= 0; open--) {
    if (signAt(tokens, open) === "}") depth++;
    if (signAt(tokens, open) === "{" && --depth === 0) break;
  }
  return /^(?:const|let|var)$/.test(nameAt(tokens, open - 1));
}
