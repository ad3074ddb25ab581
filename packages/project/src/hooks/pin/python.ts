// What a script in Python loads and starts. It is followed through the modules that can start something; others are refused.
import {
  type CodeUses,
  checkVariables,
  isGroup,
  knownValue,
  readArguments,
  textOf,
  unknownStart,
  wordsOf,
} from "./code-calls.ts";
import { readTokens, type Token } from "./code-tokens.ts";
import { isReaching, isRefusedName } from "./python-names.ts";
import { isTarget } from "./python-targets.ts";
import type { Variables } from "./shell-reader.ts";
import { quote } from "./shell-words.ts";

export function readPython(text: string, variables: Variables): CodeUses {
  const tokens = readTokens(text, "python");
  const uses: CodeUses = { modules: [], commands: [] };
  const code: PythonCode = { tokens, variables, uses, modules: new Map(), functions: new Map(), declared: new Set() };
  tokens.forEach(({ kind, text: word }, at) => {
    if (kind !== "name") return;
    if (isMember(tokens, at)) {
      if (isReaching(word) && !code.declared.has(at)) throw unknownStart(tokens.slice(Math.max(0, at - 2), at + 2));
      return;
    }
    const isRefusedModule = isMember(tokens, at + 2) && refusedModule.test(`${word}.${tokens[at + 2]?.text}`);
    if (isRefusedName(tokens, at) || isRefusedModule) throw unknownStart(tokens.slice(at, at + 4));
    if (/^(?:get|set|del)attr$/.test(word)) checkAttribute(tokens, at);
    const isStart = isStatementStart(tokens, at) && !code.declared.has(at);
    if (isStart && word === "import") readImport(code, at);
    if (isStart && word === "from") readFrom(code, at);
  });
  tokens.forEach(({ kind }, at) => {
    if (kind === "name" && !code.declared.has(at) && !isMember(tokens, at)) readUse(code, at);
  });
  return uses;
}

interface PythonCode {
  tokens: Token[];
  variables: Variables;
  uses: CodeUses;
  /** Modules whose members are looked at, by their names in the script. */
  modules: Map<string, Followed>;
  /** Functions that start a program, by their names in the script. */
  functions: Map<string, string>;
  /** Tokens of imports. */
  declared: Set<number>;
}

type Followed = "os" | "subprocess" | "sys";

const refusedMembers: Record<Followed, RegExp> = {
  os: /^(?:exec\w*|spawn\w*|posix_spawnp?|startfile|f?chdir|chroot|putenv|unsetenv|environb|add_dll_directory|_(?!exit$)\w+)$/,
  subprocess:
    /^(?!(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput|PIPE|DEVNULL|STDOUT|\w+Error|\w+Expired|CompletedProcess)$)/,
  sys: /^(?!(?:argv|base_prefix|byteorder|displayhook|dont_write_bytecode|exc_info|excepthook|exception|executable|exit|flags|float_info|getdefaultencoding|getfilesystemencoding|getrecursionlimit|getsizeof|hexversion|implementation|int_info|intern|maxsize|maxunicode|orig_argv|platform|prefix|setrecursionlimit|std(?:in|out|err)|__std(?:in|out|err)__|stdlib_module_names|version|version_info)$)/,
};
const starting: Record<Followed, RegExp> = {
  os: /^(?:system|popen)$/,
  subprocess: /^(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)$/,
  sys: /^$/,
};

const isMember = (tokens: Token[], at: number): boolean =>
  tokens[at - 1]?.kind === "sign" && tokens[at - 1]?.text === ".";
const isStatementStart = (tokens: Token[], at: number): boolean => {
  const before = tokens[at - 1];
  return before === undefined || (before.kind === "sign" && /^[\n;:]$/.test(before.text));
};
const isFollowed = (name: string): name is Followed => name === "os" || name === "subprocess" || name === "sys";

/** The tokens to the end of the statement. */
function statementAt({ tokens, declared }: PythonCode, at: number): Token[] {
  let end = at;
  for (; end < tokens.length && !(tokens[end]?.kind === "sign" && /^[\n;]$/.test(tokens[end]?.text ?? "")); end++)
    declared.add(end);
  return tokens.slice(at, end);
}

/** `import os, json as j, lib.x` */
function readImport(code: PythonCode, at: number): void {
  const parts = readArguments([bracket("("), ...statementAt(code, at).slice(1), bracket(")")], 0).items;
  for (const part of parts) {
    const [name = "", alias] = namesOf(part);
    addModule(code, name, part);
    const top = name.split(".")[0] ?? "";
    if (isFollowed(top)) code.modules.set(alias ?? top, top);
  }
}

/** `from .lib import x as y, z` */
function readFrom(code: PythonCode, at: number): void {
  const statement = statementAt(code, at);
  const middle = statement.findIndex(({ kind, text }) => kind === "name" && text === "import");
  const [module = ""] = namesOf(statement.slice(1, middle));
  const names = statement.slice(middle + 1).filter(({ text }) => text !== "(" && text !== ")");
  if (middle === -1 || (names.some(({ text }) => text === "*") && isHarmlessModule(module)))
    throw unknownStart(statement);
  if (!isFollowed(module)) addModule(code, module, statement);
  for (const part of readArguments([bracket("("), ...names, bracket(")")], 0).items) {
    const [name = "", alias] = namesOf(part);
    const isUnknown = isReaching(name) || !isHarmlessModule(`${module}.${name}`);
    if (isUnknown && isHarmlessModule(module)) throw unknownStart(statement);
    if (!isFollowed(module))
      code.uses.modules.push({ name: `${module.replace(/\.$/, "")}.${name}?`, at: statement[0]?.at ?? 0 });
    else if (refusedMembers[module].test(name) || /^environb?$/.test(name)) throw unknownStart(statement);
    else if (starting[module].test(name)) code.functions.set(alias ?? name, name);
  }
}

const bracket = (text: string): Token => ({ kind: "sign", text, value: null, at: 0 });

/** `a.b as c`: the name with its dots, and the alias. */
function namesOf(part: Token[]): string[] {
  const as = part.findIndex(({ kind, text }) => kind === "name" && text === "as");
  return (as === -1 ? [part] : [part.slice(0, as), part.slice(as + 1)]).map((each) =>
    each.map(({ text }) => text).join(""),
  );
}

function addModule({ uses }: PythonCode, name: string, [first]: Token[]): void {
  uses.modules.push({ name, at: first?.at ?? 0 });
}

/** A name that can start something is only called, or used for one of its harmless members. */
function readUse(code: PythonCode, at: number): void {
  const { tokens, functions, modules } = code;
  const { text } = tokens[at] as Token;
  const method = functions.get(text);
  if (method !== undefined) readCall(code, method, at + 1);
  const module = modules.get(text);
  if (module === undefined) return;
  const member = isMember(tokens, at + 2) ? (tokens[at + 2]?.text ?? "") : "";
  if (member === "" || refusedMembers[module].test(member)) throw unknownStart(tokens.slice(at, at + 4));
  if (starting[module].test(member)) readCall(code, member, at + 3);
  else if (module === "os" && member === "environ") checkEnvironment(code, at);
}

/** `getattr(value, "name")`: the name is known, and does not lead to another module. */
function checkAttribute(tokens: Token[], at: number): void {
  const [, name = [], ...others] = readArguments(tokens, at + 1).items;
  const value = name.length === 1 ? name[0]?.value : null;
  const isCall = tokens[at + 1]?.text === "(" && others.length <= 1;
  if (!isCall || value == null || isReaching(value) || value.startsWith("__"))
    throw unknownStart(tokens.slice(at, at + 6));
}

/** Variables are read, copied, or set to values that load nothing. */
function checkEnvironment({ tokens, variables }: PythonCode, at: number): void {
  const [next, key, end] = tokens.slice(at + 3, at + 6);
  const isSet = next?.text === "[" && end?.text === "]" && isTarget(tokens, at);
  if (isSet) checkVariables([key?.value ?? null], next.at, variables);
  if (next?.text === "[" && end?.text !== "]") throw unknownStart(tokens.slice(at, at + 6));
  if (next?.text === "." && !/^(?:get|copy|items|keys|values)$/.test(key?.text ?? ""))
    throw unknownStart(tokens.slice(at, at + 6));
  if (next?.text !== "[" && next?.text !== "." && !isCopied(tokens, at))
    throw unknownStart(tokens.slice(Math.max(0, at - 2), at + 4));
}

/** `**os.environ`, `"NAME" in os.environ`, `dict(os.environ)`; `env=os.environ` is read with its call. */
function isCopied(tokens: Token[], at: number): boolean {
  const before = tokens[at - 1]?.text ?? "";
  const isArgument = before === "(" && /^(?:dict|len|list|set|sorted)$/.test(tokens[at - 2]?.text ?? "");
  return before === "**" || before === "in" || isArgument;
}

function readCall({ tokens, variables, uses, declared }: PythonCode, method: string, at: number): void {
  const { items, end } = readArguments(tokens, at);
  const call = tokens.slice(Math.max(0, at - 3), end + 1);
  if (tokens[at]?.text !== "(") throw unknownStart(call);
  const isNamed = (item: Token[]) => item[0]?.kind === "name" && item[1]?.text === "=";
  const [first, ...others] = items.filter((item) => !isNamed(item));
  const options = new Map(items.filter(isNamed).map(([key, , ...value]) => [key?.text ?? "", value]));
  if (first === undefined || others.length > 0) throw unknownStart(call);
  const valueOfName = (part: Token[]) => valueOfVariable(part, variables);
  const directory = checkOptions(options, { call, valueOfName, variables });
  const passed = options.get("env") ?? [];
  if (textOf(passed) === "os.environ") declared.add(tokens.indexOf(passed[0] as Token));
  const value = knownValue(first, valueOfName);
  const isShell =
    /^(?:system|popen|getoutput|getstatusoutput)$/.test(method) || textOf(options.get("shell") ?? []) === "True";
  if (isShell && value === null) throw unknownStart(call);
  const words = value === null ? listed(first, call, valueOfName) : [quote(value)];
  const text = isShell && value !== null ? value : words.join(" ");
  uses.commands.push({ text: directory === null ? text : `cd ${quote(directory)} && ${text}`, at: call[0]?.at ?? 0 });
}

/** `["sh", "x.sh", path]`; the program has to be known. */
function listed(item: Token[], call: Token[], valueOfName: (part: Token[]) => string | null): string[] {
  const [program, ...rest] = readArguments(item, 0).items;
  const words = wordsOf(item, valueOfName);
  if (program !== undefined && textOf(program) === "sys.executable" && item[0]?.text === "[")
    return ["python3", ...words.slice(1)];
  if (words[0]?.includes("$(cat)") || (program === undefined && rest.length === 0)) throw unknownStart(call);
  return words;
}

/** `os.environ["NAME"]`, if the value is known. */
function valueOfVariable(part: Token[], variables: Variables): string | null {
  const name = /^os\.environ(?:\[|\.get\()["'](\w+)["'][\])]$/.exec(textOf(part))?.[1] ?? "";
  return variables.get(name) ?? null;
}

interface OptionsContext {
  call: Token[];
  valueOfName(part: Token[]): string | null;
  variables: Variables;
}

/** The directory in which it starts. */
function checkOptions(options: Map<string, Token[]>, context: OptionsContext): string | null {
  const { call, valueOfName } = context;
  const shell = textOf(options.get("shell") ?? []);
  if (!/^(?:True|False)?$/.test(shell) || options.has("executable") || options.has("preexec_fn"))
    throw unknownStart(call);
  const environment = options.get("env");
  if (environment && textOf(environment) !== "os.environ") checkDictionary(environment, context);
  const directory = options.get("cwd");
  if (directory === undefined || textOf(directory) === "os.getcwd()") return null;
  const value = knownValue(directory, valueOfName);
  if (value === null) throw unknownStart(call);
  return value;
}

/** `{**os.environ, "NAME": value}`, `dict(os.environ, NAME=value)` */
function checkDictionary(item: Token[], { call, variables }: OptionsContext): void {
  const isCall = item[0]?.kind === "name" && item[0].text === "dict";
  const group = isCall ? item.slice(1) : item;
  if (!isGroup(group, isCall ? "(" : "{")) throw unknownStart(call);
  const copied = isCall ? /^(?:\*\*)?os\.environ$/ : /^\*\*os\.environ$/;
  const members = readArguments(group, 0).items.filter((member) => !copied.test(textOf(member)));
  const names = members.map(([key, sign]) => {
    if (sign?.text !== (isCall ? "=" : ":")) return null;
    return isCall ? (key?.text ?? null) : (key?.value ?? null);
  });
  checkVariables(names, call[0]?.at ?? 0, variables);
}

/** They start nothing, and load nothing of the workspace. */
export function isHarmlessModule(name: string): boolean {
  const [top = ""] = name.split(".");
  return (isFollowed(top) || harmlessModules.has(top)) && !refusedModule.test(name);
}

/** They evaluate texts of files, or start processes. */
const refusedModule = /^(?:logging\.config|xml\.sax|concurrent\.futures\.process)\b/;

const harmlessModules = new Set(
  `__future__ abc argparse array ast base64 binascii bisect bz2 calendar codecs collections colorsys configparser contextlib
  copy csv dataclasses datetime decimal difflib email enum errno fcntl fileinput fnmatch fractions functools getopt getpass
  glob grp gzip hashlib heapq hmac html http io ipaddress itertools json keyword linecache locale logging lzma math
  mimetypes ntpath numbers operator pathlib platform posixpath pprint pwd queue quopri random re reprlib resource secrets
  select shlex shutil signal socket ssl stat statistics string struct tempfile textwrap threading time token tokenize
  tomllib traceback types typing unicodedata urllib uuid warnings weakref xml zlib zoneinfo`.split(/\s+/),
);
