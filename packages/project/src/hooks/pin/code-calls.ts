// Calls in JavaScript and Python that start a program, as the shell command that does the same.
import { checkVariable } from "./builtins.ts";
import { refuse, type Token } from "./code-tokens.ts";
import type { Variables } from "./shell-reader.ts";
import { quote } from "./shell-words.ts";

/** What code loads and starts. */
export interface CodeUses {
  /** Names of modules. */
  modules: { name: string; at: number }[];
  /** Commands, in the working directory of the script. */
  commands: { text: string; at: number }[];
}

/** The arguments of a call, each as its tokens; `at` is the opening bracket. */
export function readArguments(tokens: Token[], at: number): { items: Token[][]; end: number } {
  const items: Token[][] = [];
  let item: Token[] = [];
  let depth = 0;
  let end = at;
  for (; end < tokens.length; end++) {
    const token = tokens[end] as Token;
    const isSign = token.kind === "sign";
    if (isSign && /^[([{]$/.test(token.text) && depth++ === 0) continue;
    if (isSign && /^[)\]}]$/.test(token.text) && --depth === 0) break;
    if (isSign && token.text === "," && depth === 1) {
      items.push(item);
      item = [];
    } else item.push(token);
  }
  if (item.length > 0) items.push(item);
  return { items, end };
}

/** Whether one pair of brackets is all of it. */
export const isGroup = (item: Token[], opening: string): boolean =>
  item[0]?.kind === "sign" && item[0].text === opening && readArguments(item, 0).end === item.length - 1;

/** The value of a string, of a known variable, and of several with `+` between them; null for anything else. */
export function knownValue(item: Token[], valueOfName: (tokens: Token[]) => string | null): string | null {
  let value = "";
  for (const part of splitAt(item, "+")) {
    const [only, ...rest] = part;
    const found = only?.kind === "string" && rest.length === 0 ? only.value : valueOfName(part);
    if (found === null) return null;
    value += found;
  }
  return item.length === 0 ? null : value;
}

function splitAt(item: Token[], sign: string): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of item)
    if (token.kind === "sign" && token.text === sign) parts.push([]);
    else parts.at(-1)?.push(token);
  return parts;
}

/** One word that only the run shows, and any number of them. */
export const unknownWord = '"$(cat)"';
export const unknownWords = "$(cat)";

/** The words of a list, `["-c", path, ...more]`. */
export function wordsOf(item: Token[], valueOfName: (tokens: Token[]) => string | null): string[] {
  if (!isGroup(item, "[")) return [unknownWords];
  return readArguments(item, 0).items.map((element) => {
    if (/^(?:\.{3}|\*)$/.test(element[0]?.text ?? "")) return unknownWords;
    const value = knownValue(element, valueOfName);
    return value === null ? unknownWord : quote(value);
  });
}

/** A sentence about a command that was made here speaks of the argument instead. */
export const inWordsOfCode = (message: string): string =>
  message.replaceAll(/`?"?\$\(cat\)"?`?/g, "an argument that only its run shows");

/** `{ ...process.env, LEVEL: "1" }`: variables that make no program load anything, and by which no file was found. */
export function checkVariables(names: (string | null)[], at: number, known: Variables): void {
  for (const name of names) {
    if (name !== null && known.has(name)) throw refuse(at, `${name} gets a value that is known only when it runs`);
    if (name === null || name === "__proto__") throw refuse(at, "which variables it sets is known only when it runs");
    try {
      checkVariable(name);
    } catch (error) {
      throw Object.assign(error as Error, { at });
    }
  }
}

export const textOf = (tokens: Token[]): string =>
  tokens
    .map(({ text }) => text)
    .join("")
    .split("\n", 1)[0]
    ?.slice(0, 60) ?? "";

export const unknownText = (text: string): string => `what \`${text}\` runs or loads is known only when it runs`;

export const unknownStart = (tokens: Token[]) => refuse(tokens[0]?.at ?? 0, unknownText(textOf(tokens)));
