// Builtins of shells that evaluate some arguments: an array subscript in them runs commands. Only plain ones pass.
import { type Call, checkOneWord, isNumber, refuseArgument, refuseOption } from "./arguments.ts";
import { loadingVariable } from "./programs.ts";
import { type ShellWord, Unpinnable } from "./shell-reader.ts";

export const judgedBuiltins: [string, (call: Call) => void][] = [
  ["[", judgeCondition],
  ["[[", judgeCondition],
  ["test", judgeCondition],
  ["printf", judgePrintf],
  ["read", judgeRead],
  ["export", judgeExport],
  ["local", judgeExport],
  ["readonly", judgeExport],
  ["unset", judgeUnset],
  ["set", judgeSet],
  ["exit", judgeNumbers],
  ["return", judgeNumbers],
  ["shift", judgeNumbers],
  ["break", judgeNumbers],
  ["continue", judgeNumbers],
  ["wait", judgeNumbers],
];

const closing: Record<string, string> = { "[": "]", "[[": "]]" };
const unary = /^-[bcdefghkprsuwxznLOGSN]$/;
const comparison = /^(?:=|==|!=|<|>|=~|-nt|-ot|-ef)$/;
const arithmetic = /^-(?:eq|ne|lt|le|gt|ge)$/;

function judgeCondition(call: Call): void {
  const { name, words } = call;
  const end = closing[name];
  if (end !== undefined && words.at(-1)?.value !== end) refuseCondition(call);
  const inner = end === undefined ? [...words] : words.slice(0, -1);
  while (inner[0]?.value === "!") inner.shift();
  if (name !== "[[") for (const word of inner) checkOneWord(word, call);
  if (inner.length > 1 && !isPlainCondition(inner, call)) refuseCondition(call);
}

function isPlainCondition([first, second, third, ...rest]: ShellWord[], call: Call): boolean {
  if (!first || !second || rest.length > 0) return false;
  const operator = (third === undefined ? first : second).value ?? "";
  if (third !== undefined && arithmetic.test(operator)) {
    if (isNumber(first, call) && isNumber(third, call)) return true;
    throw new Unpinnable(`an operand of ${operator} is evaluated and can run a command; compare texts with = instead`);
  }
  if (third !== undefined) return comparison.test(operator);
  if (operator === "-t") return isNumber(second, call);
  return operator === "-v" ? isName(second) : unary.test(operator);
}

function refuseCondition({ name, words, textOf }: Call): never {
  const text = [name, ...words.map(textOf)].join(" ");
  throw new Unpinnable(
    `the condition \`${text}\` is not read; write one comparison in brackets, joined with && and ||`,
  );
}

const isName = ({ value }: ShellWord): boolean => value !== null && /^[A-Za-z_]\w*$/.test(value);

/** With other conversions than text, a shell may evaluate what is printed. */
function judgePrintf(call: Call): void {
  const [format, ...rest] = call.words[0]?.value === "--" ? call.words.slice(1) : call.words;
  if (format === undefined) return;
  if (format.value === null) refuseArgument(format, call);
  if (format.value.startsWith("-")) refuseOption(format.value, call);
  if (/^(?:[^%]|%(?:%|-?\d*(?:\.\d+)?[sbqc]))*$/.test(format.value)) return;
  const evaluated = rest.find((word) => !isNumber(word, call));
  if (evaluated) refuseArgument(evaluated, call);
}

/** Each argument is the name of a variable that may be changed. */
function judgeNames(words: ShellWord[], call: Call): void {
  for (const word of words) {
    if (!isName(word)) refuseArgument(word, call);
    checkVariable(word.value ?? "");
  }
}

/** What hooks call the file of an edit: no program reads a variable of this name. */
const ordinaryVariable =
  /^(?:(?:abs|edited|file|full|input|log|notebook|output|rel|repo|source|target|tool|transcript)_path|lines|columns|seconds)$/;
const ofFile = /^(?:ABS|EDITED|FILE|FULL|INPUT|LOG|NOTEBOOK|OUTPUT|REL|REPO|SOURCE|TARGET|TOOL|TRANSCRIPT)_PATH$/;

export function checkVariable(name: string): void {
  if (loadingVariable.test(name) && !ordinaryVariable.test(name) && !ofFile.test(name))
    throw new Unpinnable(`${name} can make programs load other files`);
}

function judgeRead(call: Call): void {
  let at = 0;
  for (; call.words[at]?.value?.startsWith("-"); at++) {
    const option = call.words[at]?.value ?? "";
    const value = call.words[at + 1];
    if (/^-[rs]*[ntNu]$/.test(option) && value && isNumber(value, call)) at++;
    else if (/^-[rs]*[dp]$/.test(option) && value?.value != null) at++;
    else if (!/^-[ers]+$/.test(option)) refuseOption(option, call);
  }
  judgeNames(call.words.slice(at), call);
}

function judgeUnset(call: Call): void {
  judgeNames(/^-[fv]$/.test(call.words[0]?.value ?? "") ? call.words.slice(1) : call.words, call);
}

function judgeExport(call: Call): void {
  for (const word of call.words) {
    const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(word.value ?? call.textOf(word))?.[1];
    if (name === undefined) refuseArgument(word, call);
    checkOneWord(word, call);
    checkVariable(name);
  }
}

const setOptions = /^(?:errexit|monitor|noclobber|noglob|nounset|pipefail|posix|verbose|xtrace)$/;

/** Not -k, with which every argument can set a variable. */
function judgeSet(call: Call): void {
  for (let at = 0; at < call.words.length; at++) {
    const word = call.words[at] as ShellWord;
    if (word.value === "--") return;
    if (/^[-+][bBCefhmnuvx]*o$/.test(word.value ?? "") && setOptions.test(call.words[at + 1]?.value ?? "")) at++;
    else if (!/^[-+][bBCefhmnuvx]+$/.test(word.value ?? "")) refuseArgument(word, call);
  }
}

function judgeNumbers(call: Call): void {
  const evaluated = call.words.find((word) => !isNumber(word, call));
  if (evaluated) refuseArgument(evaluated, call);
}
