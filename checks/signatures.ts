// Finds functions with their parameters and interfaces with their methods in the code view of a source file.
import { lineAt } from "./source.ts";

export interface Signature {
  name: string;
  line: number;
  parameters: number;
}

/** Functions, methods and function types that have parameters. */
export function findSignatures(code: string): Signature[] {
  return [...code.matchAll(/\(/g)].flatMap(({ index }) => {
    const close = closingOf(code, index);
    const list = splitTopLevel(code.slice(index + 1, close), ",");
    // What decides stands right before the bracket; patterns that end there would search the whole file for it.
    const before = code.slice(Math.max(0, index - 400), index);
    if (list.length === 0 || !isParameterList(before, list, code.slice(close + 1))) return [];
    return [{ name: nameBefore(before), line: lineAt(code, index), parameters: list.length }];
  });
}

export interface MethodCount {
  name: string;
  line: number;
  methods: number;
}

/** Interfaces and object types with the number of their methods. */
export function findMethodCounts(code: string): MethodCount[] {
  return [...code.matchAll(/\b(?:interface\s+([\w$]+)[^{;=]*|type\s+([\w$]+)[^{;=]*=\s*)(?=\{)/g)].map((match) => {
    const open = match.index + match[0].length;
    const members = splitTopLevel(code.slice(open + 1, closingOf(code, open)), ";");
    return {
      name: match[1] ?? match[2] ?? "",
      line: lineAt(code, match.index),
      methods: members.filter(isMethod).length,
    };
  });
}

const isMethod = (member: string): boolean =>
  /^(?:readonly\s+)?[\w$[\].]+\??\s*(?:<[^(]*>)?\(/.test(member) ||
  /^(?:readonly\s+)?[\w$]+\??\s*:\s*(?:<[^(]*>)?\([\s\S]*\)\s*=>/.test(member);

/** A call has the same brackets; the text around them decides. */
function isParameterList(before: string, list: string[], after: string): boolean {
  if (/\bfunction\b\s*\*?\s*[\w$]*\s*(?:<[^()]*>)?$/.test(before)) return true;
  if (/^\s*=>/.test(after)) return true;
  if (/\b(?:if|for|while|switch|catch|with|return|await|super|new\s+[\w$.]+)\s*$/.test(before)) return false;
  if (/^\s*\{/.test(after)) return /[\w$>]\s*$/.test(before);
  return (
    /^\s*[:;]/.test(after) &&
    list.every((parameter) => /^(?:\.\.\.)?(?:[\w$]+\??|[{[][\s\S]*[}\]])\s*:/.test(parameter))
  );
}

/** The name a function is declared, assigned or passed under. */
export function nameBefore(before: string): string {
  const plain = before.replace(/(?:<[^()]*>)?\s*$/, "").slice(-200);
  const assigned = /([\w$#]+)\??\s*[:=]\s*(?:async\s*)?$/.exec(plain)?.[1];
  const declared = /([\w$#]+)$/.exec(plain)?.[1];
  if (declared !== undefined && declared !== "async" && declared !== "function") return declared;
  return assigned ?? "(anonymous)";
}

/** The parts between separators outside of brackets, without blank ones. */
function splitTopLevel(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    const isArrow = char === ">" && text[at - 1] === "=";
    if ("([{<".includes(char)) depth++;
    if (")]}>".includes(char) && !isArrow) depth--;
    if (char === separator && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const pairs: Record<string, string> = { "{": "}", "(": ")" };

function closingOf(code: string, open: number): number {
  const [opening = "", closing] = [code[open], pairs[code[open] ?? ""]];
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === opening) depth++;
    if (code[at] === closing && --depth === 0) return at;
  }
  return code.length;
}
