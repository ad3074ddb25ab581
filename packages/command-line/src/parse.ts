// Parses the command line. Flags may stand before or after the words of the command they belong to.
import { parseArgs } from "node:util";
import { nearest } from "@agentcli/project/nearest";
import type { CommandDescription, Flag, Invocation, Syntax } from "./command.ts";
import { CommandError } from "./error.ts";

type Values = Record<string, string | boolean | string[]>;

export type CommandLine<Entry> =
  /** The topic may be any words. */
  | { kind: "help"; topic: string[] }
  /** One word that only begins commands, such as `mcp`. */
  | { kind: "incomplete"; topic: string[] }
  | { kind: "version" }
  | { kind: "command"; command: Entry; invocation: Invocation };

export function parseCommandLine<Entry extends CommandDescription>(
  argv: string[],
  syntax: Syntax<Entry>,
): CommandLine<Entry> {
  const { values, words, literal } = split(argv, syntax);
  if (values.version) return { kind: "version" };
  if (words[0] === "help") return { kind: "help", topic: words.slice(1) };
  const unnamed = values.help ? null : unnamedCommand(words, syntax);
  if (values.help || (words.length === 0 && !unnamed)) return { kind: "help", topic: topicOf(words, syntax) };
  if (isGroup(words, syntax)) return { kind: "incomplete", topic: words };
  const { command, positionals: named } = unnamed ?? findCommand(words, syntax);
  const positionals = [...named, ...literal];
  checkFlags(values, command, syntax);
  const extra = positionals[command.maxPositionals];
  if (extra !== undefined) throw extraArgument(extra, command, syntax);
  return { kind: "command", command, invocation: invocation(values, positionals) };
}

/** For a program that answers an incomplete command with an error instead of help. */
export function incompleteCommand([word = ""]: string[], syntax: Syntax): CommandError {
  return usage(`Incomplete command: ${syntax.program} ${word}. ${choices(word, syntax)}`);
}

function isGroup(words: string[], syntax: Syntax): boolean {
  const paths = pathsOf(syntax).filter(({ path }) => path[0] === words[0]);
  return words.length === 1 && paths.length > 0 && paths.every(({ path }) => path.length > 1);
}

/** For no words at all, or for a first word that is not nearly the name of a command. */
function unnamedCommand<Entry extends CommandDescription>(
  words: string[],
  syntax: Syntax<Entry>,
): { command: Entry; positionals: string[] } | null {
  const names = [...new Set(pathsOf(syntax).map(({ path }) => path[0] ?? ""))];
  const [first] = words;
  if (first !== undefined && (names.includes(first) || nearest(first, names))) return null;
  const command = syntax.unnamed?.();
  return command ? { command, positionals: words } : null;
}

/** `WORDS --help`: the command that the words would run. */
function topicOf(words: string[], syntax: Syntax): string[] {
  if (words.length === 0 || isGroup(words, syntax)) return words;
  return findCommand(words, syntax).command.path;
}

/** The longest name that fits: `exec resume` before `exec`. */
function findCommand<Entry extends CommandDescription>(
  words: string[],
  syntax: Syntax<Entry>,
): { command: Entry; positionals: string[] } {
  const matches = pathsOf(syntax).filter(({ path }) => path.every((word, index) => words[index] === word));
  const longest = matches.sort((left, right) => right.path.length - left.path.length)[0];
  if (longest) return { command: longest.command, positionals: words.slice(longest.path.length) };
  throw unknownCommand(words, syntax);
}

export function unknownCommand(words: string[], syntax: Syntax): CommandError {
  const [first = "", second = ""] = words;
  const paths = pathsOf(syntax).map(({ path }) => path);
  if (paths.some((path) => path[0] === first))
    return usage(`There is no command "${first} ${second}". ${choices(first, syntax)}`);
  const near = nearest(first, [...new Set(paths.map((path) => path[0] ?? ""))]);
  const hint = near ? `Did you mean ${near}?` : (syntax.hints?.unknownCommand?.(words) ?? "");
  return usage(`There is no command "${first}". ${hint}${hint && " "}See ${syntax.program} --help.`);
}

const choices = (word: string, syntax: Syntax): string =>
  `Choose one of: ${pathsOf(syntax)
    .filter(({ path }) => path[0] === word)
    .map(({ path }) => `${syntax.program} ${path.join(" ")}`)
    .join(", ")}.`;

const pathsOf = <Entry extends CommandDescription>({ commands }: Syntax<Entry>): { command: Entry; path: string[] }[] =>
  commands.flatMap((command) => [command.path, ...(command.aliases ?? [])].map((path) => ({ command, path })));

function checkFlags(values: Values, command: CommandDescription, { program, commands }: Syntax): void {
  for (const name of Object.keys(values)) {
    if (command.flags.includes(name)) continue;
    const owner = commands.find(({ flags }) => flags.includes(name));
    const hint = owner ? ` It belongs to: ${program} ${owner.path.join(" ")}.` : "";
    throw usage(`--${name} is not a flag of ${[program, ...command.path].join(" ")}.${hint}`);
  }
}

const invocation = (values: Values, positionals: string[]): Invocation => ({
  positionals,
  has: (flag) => values[flag] === true,
  text: (flag) => values[flag] as string | undefined,
  list: (flag) => (values[flag] as string[] | undefined) ?? [],
});

/** Words after `--` do not name a command. Not strict in the parser: its own messages do not say what to do next. */
function split(argv: string[], syntax: Syntax): { values: Values; words: string[]; literal: string[] } {
  const options = Object.fromEntries(parserOptions(syntax));
  const parsed = parseArgs({
    args: withDefaults(argv, syntax),
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values: Values = {};
  for (const token of parsed.tokens) if (token.kind === "option") checkOption(token, syntax);
  for (const [name, value] of Object.entries(parsed.values))
    if (value !== undefined) addValue(values, canonical(name, syntax), value as Values[string]);
  const positionals = parsed.tokens.filter((token) => token.kind === "positional");
  const end = parsed.tokens.find((token) => token.kind === "option-terminator")?.index ?? Infinity;
  return {
    values,
    words: positionals.filter(({ index }) => index < end).map(({ value }) => value),
    literal: positionals.filter(({ index }) => index > end).map(({ value }) => value),
  };
}

/** A list that is given under two names of its flag is one list. */
function addValue(values: Values, name: string, value: Values[string]): void {
  const former = values[name];
  values[name] = Array.isArray(former) && Array.isArray(value) ? [...former, ...value] : value;
}

function* parserOptions({ flags }: Syntax): Generator<[string, ReturnType<typeof parserOption>]> {
  for (const [name, flag] of Object.entries(flags)) {
    yield [name, { ...parserOption(flag), ...(flag.short ? { short: flag.short } : {}) }];
    for (const alias of flag.aliases ?? []) yield [alias, parserOption(flag)];
  }
}

const parserOption = (flag: Flag) => ({
  type: flag.value ? ("string" as const) : ("boolean" as const),
  ...(flag.repeatable ? { multiple: true } : {}),
});

/** A flag whose value may be missing gets its default where no value follows: the parser would take the next flag for it. */
function withDefaults(argv: string[], syntax: Syntax): string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  let isValue = false;
  return argv.map((word, index) => {
    const flag = index < end && !isValue ? flagOf(word, syntax) : undefined;
    const hasValue = index + 1 < end && !argv[index + 1]?.startsWith("-");
    const isBare = flag?.valueByDefault !== undefined && !hasValue;
    isValue = flag?.value !== undefined && !isBare;
    return isBare ? `${word}=${flag?.valueByDefault}` : word;
  });
}

const flagOf = (word: string, syntax: Syntax): Flag | undefined =>
  word.startsWith("--")
    ? syntax.flags[canonical(word.slice(2), syntax)]
    : Object.values(syntax.flags).find(({ short }) => short !== undefined && word === `-${short}`);

const canonical = (name: string, { flags }: Syntax): string =>
  Object.entries(flags).find(([, { aliases }]) => aliases?.includes(name))?.[0] ?? name;

interface Option {
  rawName: string;
  name: string;
  value?: string | undefined;
}

function checkOption({ rawName, name, value }: Option, syntax: Syntax): void {
  const flag = syntax.flags[canonical(name, syntax)];
  if (!flag) throw unknownFlag(rawName, name, syntax);
  const isMissing = value === undefined || (value === "" && syntax.rejectEmptyValues);
  if (flag.value && isMissing && flag.valueByDefault === undefined)
    throw usage(`${rawName} needs a value: ${rawName} ${flag.value}.`);
  if (flag.valueByDefault !== undefined && value === "")
    throw usage(`${rawName} has an empty value. Give it one, or leave it out: ${rawName} [${flag.value}].`);
  if (!flag.value && value !== undefined) throw usage(`${rawName} takes no value, but "${value}" was given.`);
  if (flag.choices && value !== undefined && !flag.choices.includes(value))
    throw usage(`${rawName} ${value}: choose one of ${flag.choices.join(", ")}.`);
}

function unknownFlag(rawName: string, name: string, { flags, program }: Syntax): CommandError {
  const near = nearest(name, Object.keys(flags));
  return usage(`Unknown flag ${rawName}.${near ? ` Did you mean --${near}?` : ""} See ${program} --help.`);
}

function extraArgument(extra: string, command: CommandDescription, syntax: Syntax): CommandError {
  const { program, hints } = syntax;
  if (command.maxPositionals > 0 && hints?.extraArgument)
    return usage(`Unexpected argument "${extra}". ${hints.extraArgument}`);
  const name = `${program} ${command.path.join(" ")}`;
  const near = nearest(extra, siblingsOf(command, syntax));
  const hint = near ? ` Did you mean ${program} ${command.path[0]} ${near}?` : "";
  return usage(`${name} does not take "${extra}".${hint} See ${name} --help.`);
}

/** `show`, `delete` and so on for `sessions list`. */
const siblingsOf = (command: CommandDescription, syntax: Syntax): string[] =>
  pathsOf(syntax).flatMap(({ path }) => (path[0] === command.path[0] && path[1] !== undefined ? [path[1]] : []));

const usage = (message: string): CommandError => new CommandError("usage", message);
