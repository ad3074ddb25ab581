// Arguments of a program that is harmless only with some of them: which options it gets, and which words are no options.
import { type ShellWord, Unpinnable } from "./shell-reader.ts";

/** A program with its arguments, as they are written in a command. */
export interface Call {
  name: string;
  words: ShellWord[];
  textOf(word: ShellWord): string;
  /** Variables that get their values in the command, by whether they are always numbers. */
  assigned: ReadonlyMap<string, "number" | "text">;
}

export interface Options {
  /** Without a value, or with the value in the same word. */
  flags: RegExp;
  /** With one value: the next word. */
  valued?: RegExp;
  /** With two values: the next two words. */
  paired?: RegExp;
}

export interface ReadArguments {
  operands: ShellWord[];
  values: { option: string; word: ShellWord }[];
}

/** Any other option is refused, wherever it is. */
export function readOptions(call: Call, { flags, valued, paired }: Options): ReadArguments {
  const read: ReadArguments = { operands: [], values: [] };
  for (let at = 0; at < call.words.length; at++) {
    const word = call.words[at] as ShellWord;
    if (word.value === "--") return { ...read, operands: [...read.operands, ...call.words.slice(at + 1)] };
    if (!isOption(word, call)) {
      read.operands.push(word);
      continue;
    }
    const option = word.value ?? call.textOf(word);
    const count = valued?.test(option) ? 1 : paired?.test(option) ? 2 : 0;
    if (count === 0 && !flags.test(option)) refuseOption(option, call);
    const values = call.words.slice(at + 1, at + 1 + count);
    for (const value of values) checkOneWord(value, call);
    read.values.push(...values.map((value) => ({ option, word: value })));
    at += count;
  }
  return read;
}

/** A word that only the run shows could be any option, unless it begins with something else. */
function isOption(word: ShellWord, call: Call): boolean {
  const text = call.textOf(word);
  if (word.value !== null) return word.value.length > 1 && word.value.startsWith("-");
  if (isOfUser(word, call)) return /^["']?-/.test(text);
  if (word.splits) throw new Unpinnable(`\`${text}\` may be several words or may be an option of ${call.name}`);
  if (/^"?[\w./:@%+,]/.test(text)) return false;
  throw new Unpinnable(`\`${text}\` may be an option of ${call.name}; write -- or ./ in front of it`);
}

export function refuseOption(option: string, { name }: Call): never {
  throw new Unpinnable(`the option ${option} of ${name} may run or load files`);
}

export function refuseArgument(word: ShellWord, { name, textOf }: Call): never {
  throw new Unpinnable(`the argument \`${textOf(word)}\` of ${name} is not one that runs nothing`);
}

export function checkOneWord(word: ShellWord, call: Call): void {
  if (word.splits && !isOfUser(word, call) && !isNumber(word, call))
    throw new Unpinnable(`\`${call.textOf(word)}\` may be several words; write it in double quotes`);
}

/** Known, or from the user's environment: an agent has no influence on it. */
export const isOfUser = ({ unknown }: ShellWord, { assigned }: Pick<Call, "assigned">): boolean =>
  unknown.every((name) => /^[?#!$]$/.test(name) || (/^[A-Za-z_]\w*$/.test(name) && !isSetInside(name, assigned)));

const isSetInside = (name: string, assigned: Call["assigned"]): boolean =>
  assigned.has(name) || assigned.has(anyName) || setByShell.test(name);

/** Among the assigned: a script that the shell reads may set every variable. */
export const anyName = "*";

/** Variables that a shell fills from what a command reads, matches or ran last. */
const setByShell =
  /^(?:_|REPLY|BASH_\w+|COMP_\w+|READLINE_\w+|MATCH|M(?:BEGIN|END)|OPTARG|MAPFILE|COPROC|DIRSTACK|PIPESTATUS|ARGV0?|STATUS|TTYIDLE|PWD|OLDPWD)$/i;

/** Evaluating it runs nothing: digits, a variable that never is anything else, or one of the user's environment. */
export function isNumber(word: ShellWord, { textOf, assigned }: Pick<Call, "textOf" | "assigned">): boolean {
  if (word.value !== null) return /^[-+]?\d+$/.test(word.value);
  const name = /^"?\$\{?([\w?#!$]+)\}?"?$/.exec(textOf(word))?.[1] ?? "";
  return assigned.get(name) === "number" || (name !== "" && isOfUser(word, { assigned }));
}
