// The command line as a value. Flags may stand before or after the words of the command they belong to.
import { parseArgs } from "node:util";
import { nearest } from "@agentcli/project/nearest";
import { type Command, commands } from "./commands.ts";
import { type Flag, type FlagName, flags } from "./flags.ts";
import { Problem } from "./problem.ts";

type Values = { [Name in FlagName]?: string | boolean | string[] };

/** A command with what it was given, checked against the tables. */
export interface Invocation {
  positionals: string[];
  has(flag: FlagName): boolean;
  text(flag: FlagName): string | undefined;
  list(flag: FlagName): string[];
}

export type CommandLine =
  | { kind: "help"; topic: string[] }
  /** Words that begin commands and are none: their help is an answer, but not to what was asked. */
  | { kind: "half-named"; topic: string[] }
  | { kind: "version" }
  | { kind: "command"; command: Command; invocation: Invocation };

export function parseCommandLine(argv: string[]): CommandLine {
  const { values, words, literal } = split(argv);
  if (values.version) return { kind: "version" };
  if (words[0] === "help") return { kind: "help", topic: words.slice(1) };
  if (values.help || words.length === 0) return { kind: "help", topic: words };
  if (isGroup(words)) return { kind: "half-named", topic: words };
  const { command, positionals: named } = findCommand(words);
  const positionals = [...named, ...literal];
  checkFlags(values, command);
  const extra = positionals[command.mostPositionals];
  if (extra !== undefined) throw tooMany(extra, command);
  return { kind: "command", command, invocation: invocation(values, positionals) };
}

function isGroup(words: string[]): boolean {
  const names = commands
    .flatMap(({ path, aliases = [] }) => [path, ...aliases])
    .filter(([first]) => first === words[0]);
  return words.length === 1 && names.length > 0 && names.every(({ length }) => length > 1);
}

/** The longest name that fits: `exec resume` before `exec`. */
function findCommand(words: string[]): { command: Command; positionals: string[] } {
  const named = commands.flatMap((command) =>
    [command.path, ...(command.aliases ?? [])].map((path) => ({ command, path })),
  );
  const fitting = named.filter(({ path }) => path.every((word, index) => words[index] === word));
  const longest = fitting.sort((left, right) => right.path.length - left.path.length)[0];
  if (longest) return { command: longest.command, positionals: words.slice(longest.path.length) };
  const begun = named.filter(({ path }) => path[0] === words[0]).map(({ path }) => `agentcli ${path.join(" ")}`);
  if (begun.length > 0) throw new Problem("usage", `${words[0]} of what? There is: ${begun.join(", ")}.`);
  const near = nearest(words[0] ?? "", [...new Set(named.map(({ path }) => path[0] ?? ""))]);
  const hint = near ? `Did you mean ${near}?` : `To run a prompt: agentcli exec "${words.join(" ")}".`;
  throw new Problem("usage", `There is no command "${words[0]}". ${hint} See agentcli --help.`);
}

function checkFlags(values: Values, command: Command): void {
  for (const name of Object.keys(values) as FlagName[]) {
    if (command.flags.includes(name)) continue;
    const where = commands.filter((other) => other.flags.includes(name)).map((other) => other.path.join(" "));
    const hint = where[0] ? ` It belongs to: agentcli ${where[0]}.` : "";
    throw new Problem("usage", `--${name} is not a flag of agentcli ${command.path.join(" ")}.${hint}`);
  }
}

const invocation = (values: Values, positionals: string[]): Invocation => ({
  positionals,
  has: (flag) => values[flag] === true,
  text: (flag) => values[flag] as string | undefined,
  list: (flag) => (values[flag] as string[] | undefined) ?? [],
});

/** Words behind `--` name no command. Not strict in the parser: its own messages do not say what to do next. */
function split(argv: string[]): { values: Values; words: string[]; literal: string[] } {
  const options = Object.fromEntries(parserOptions());
  const { values, tokens } = parseArgs({
    args: argv,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) if (token.kind === "option") checkOption(token.rawName, token.name, token.value);
  const positionals = tokens.filter((token) => token.kind === "positional");
  const end = tokens.find((token) => token.kind === "option-terminator")?.index ?? Infinity;
  return {
    values: mergeAliases(values as Record<string, string | boolean | string[]>),
    words: positionals.filter(({ index }) => index < end).map(({ value }) => value),
    literal: positionals.filter(({ index }) => index > end).map(({ value }) => value),
  };
}

function* parserOptions(): Generator<[string, ReturnType<typeof parserOption>]> {
  for (const [name, flag] of Object.entries(flags)) {
    yield [name, { ...parserOption(flag), ...(flag.short ? { short: flag.short } : {}) }];
    for (const alias of flag.aliases ?? []) yield [alias, parserOption(flag)];
  }
}

const parserOption = (flag: Flag) => ({
  type: flag.value ? ("string" as const) : ("boolean" as const),
  ...(flag.repeatable ? { multiple: true } : {}),
});

function mergeAliases(values: Record<string, string | boolean | string[]>): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [canonical(name), value]));
}

const canonical = (name: string): string =>
  Object.entries(flags).find(([, flag]) => flag.aliases?.includes(name))?.[0] ?? name;

function checkOption(rawName: string, name: string, value: string | undefined): void {
  const flag = (flags as Record<string, Flag | undefined>)[canonical(name)];
  if (!flag) throw unknownFlag(rawName, name);
  if (flag.value && value === undefined)
    throw new Problem("usage", `${rawName} needs a value: ${rawName} ${flag.value}.`);
  if (!flag.value && value !== undefined)
    throw new Problem("usage", `${rawName} takes no value, but "${value}" was given.`);
  if (flag.choices && value !== undefined && !flag.choices.includes(value)) {
    throw new Problem("usage", `${rawName} ${value}: choose one of ${flag.choices.join(", ")}.`);
  }
}

function unknownFlag(rawName: string, name: string): Problem {
  const near = nearest(name, Object.keys(flags));
  return new Problem("usage", `Unknown flag ${rawName}.${near ? ` Did you mean --${near}?` : ""} See agentcli --help.`);
}

function tooMany(extra: string, { path, mostPositionals }: Command): Problem {
  if (mostPositionals === 0) {
    const words = path.join(" ");
    return new Problem("usage", `agentcli ${words} takes no argument, but "${extra}" was given. See agentcli --help.`);
  }
  return new Problem(
    "usage",
    `Unexpected argument "${extra}". Quote a prompt of several words: agentcli exec "fix the test".`,
  );
}
