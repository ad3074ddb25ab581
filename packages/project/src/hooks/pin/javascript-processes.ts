// Calls of node:child_process, as the shell commands that do the same.
import { checkVariables, isGroup, knownValue, readArguments, textOf, unknownStart, wordsOf } from "./code-calls.ts";
import type { Token } from "./code-tokens.ts";
import type { Variables } from "./shell-reader.ts";
import { quote } from "./shell-words.ts";

/** A call of one of its functions; `at` is the opening bracket. */
export interface ProcessCall {
  method: string;
  at: number;
}

/** The names that the module and its functions have in a script. */
export interface Bindings {
  modules: Set<string>;
  /** By the name in the script. */
  functions: Map<string, string>;
  /** Calls without a name of their own: `require("child_process").spawn(…)`. */
  calls: ProcessCall[];
  /** The tokens that declare these names. */
  declared: Set<number>;
}

export function commandOfCall(tokens: Token[], { method, at }: ProcessCall, variables: Variables): string {
  const { items, end } = readArguments(tokens, at);
  const call = tokens.slice(at - 1, end + 1);
  const [first = [], ...rest] = items;
  const valueOfName = (part: Token[]) => valueOfVariable(part, variables);
  const context = { call, valueOfName, variables };
  const isProgram = textOf(first) === "process.execPath";
  const program = isProgram ? "node" : knownValue(first, valueOfName);
  if (program === null || !/^(?:exec|execFile|spawn)(?:Sync)?$|^fork$/.test(method)) throw unknownStart(call);
  if (/^exec(?:Sync)?$/.test(method)) return inDirectory(program, readOptions(rest, context));
  // What is not written as a list can be the options instead, also where others follow it.
  const list = isGroup(rest[0] ?? [], "[") ? rest[0] : undefined;
  const options = readOptions(list ? rest.slice(1) : rest, context);
  const words = [...(method === "fork" ? ["node"] : []), quote(program), ...(list ? wordsOf(list, valueOfName) : [])];
  if (!options.isShell) return inDirectory(words.join(" "), options);
  const values = list ? readArguments(list, 0).items.map((item) => knownValue(item, valueOfName)) : [];
  if (values.includes(null)) throw unknownStart(call);
  return inDirectory([program, ...values].join(" "), options);
}

const inDirectory = (command: string, { directory }: ProcessOptions): string =>
  directory === null ? command : `cd ${quote(directory)} && ${command}`;

/** `process.env.NAME` and `process.env["NAME"]`, if the value is known. */
function valueOfVariable(part: Token[], variables: Variables): string | null {
  const name = /^process\.env(?:\.(\w+)|\[["'](\w+)["']\])$/.exec(textOf(part));
  return variables.get(name?.[1] ?? name?.[2] ?? "") ?? null;
}

interface ProcessOptions {
  directory: string | null;
  isShell: boolean;
}

interface OptionsContext {
  call: Token[];
  valueOfName(part: Token[]): string | null;
  variables: Variables;
}

/** `function name(a) { … }`, `a => …` or `(a, b) => …`, and nothing behind it. */
function isFunction(item: Token[]): boolean {
  const [first] = item;
  if (first?.kind === "name" && first.text === "async") return isFunction(item.slice(1)) || item[1]?.text === "=>";
  const open = item.findIndex(({ kind, text }) => kind === "sign" && text === "(");
  const after = item.slice(readArguments(item, Math.max(0, open)).end + 1);
  if (first?.kind === "name" && first.text === "function") return isGroup(after, "{");
  return (first?.kind === "name" && item[1]?.text === "=>") || (open === 0 && after[0]?.text === "=>");
}

/** Options in braces; a function that gets the result runs nothing else. */
function readOptions(items: Token[][], { call, valueOfName, variables }: OptionsContext): ProcessOptions {
  const options: ProcessOptions = { directory: null, isShell: false };
  for (const item of items) {
    if (isFunction(item)) continue;
    if (!isGroup(item, "{")) throw unknownStart(call);
    for (const member of readArguments(item, 0).items) {
      const [key, colon, ...value] = member;
      if (key === undefined) continue;
      const name = key.kind === "string" ? key.value : key.text;
      if (colon?.text !== ":" || name === null || key.kind === "sign") throw unknownStart(call);
      if (name === "cwd" && textOf(value) !== "process.cwd()")
        options.directory = known(knownValue(value, valueOfName), call);
      if (name === "shell") options.isShell = isTrue(value, call);
      if (name === "env") checkEnvironment(value, call, variables);
      if (/^(?:execPath|execArgv|argv0|__proto__)$/.test(name)) throw unknownStart(call);
    }
  }
  return options;
}

function known(value: string | null, call: Token[]): string {
  if (value === null) throw unknownStart(call);
  return value;
}

function isTrue(value: Token[], call: Token[]): boolean {
  const text = textOf(value);
  if (text !== "true" && text !== "false") throw unknownStart(call);
  return text === "true";
}

/** `process.env`, or `{ ...process.env, NAME: value }`. */
function checkEnvironment(value: Token[], call: Token[], variables: Variables): void {
  if (textOf(value) === "process.env") return;
  if (!isGroup(value, "{")) throw unknownStart(call);
  const members = readArguments(value, 0).items.filter((member) => textOf(member) !== "...process.env");
  const names = members.map(([key, colon]) => {
    const isValue = colon === undefined || (colon.kind === "sign" && colon.text === ":");
    return !isValue || key === undefined || key.kind === "sign" ? null : key.kind === "string" ? key.value : key.text;
  });
  checkVariables(names, call[0]?.at ?? 0, variables);
}
