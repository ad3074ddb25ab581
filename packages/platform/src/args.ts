// The command line as a value, checked against the tables of commands and flags.
import { parseArgs } from "node:util";
import { nearest } from "@agentcli/project/nearest";
import { type Command, commands } from "./commands.ts";
import { type Flag, type FlagName, flags } from "./flags.ts";
import { UsageProblem } from "./problem.ts";

export interface Invocation {
  positionals: string[];
  has(flag: FlagName): boolean;
  text(flag: FlagName): string | undefined;
}

export type CommandLine =
  | { kind: "help"; topic: string[] }
  | { kind: "version" }
  | { kind: "command"; command: Command; invocation: Invocation };

export function parseCommandLine(argv: string[]): CommandLine {
  const { values, words } = split(argv);
  if (values.has("version")) return { kind: "version" };
  if (words[0] === "help") return { kind: "help", topic: words.slice(1) };
  if (values.has("help") || words.length === 0) return { kind: "help", topic: words };
  const command = findCommand(words);
  const positionals = words.slice(command.path.length);
  check(command, values, positionals);
  const text = (flag: FlagName) => {
    const value = values.get(flag);
    return typeof value === "string" ? value : undefined;
  };
  return { kind: "command", command, invocation: { positionals, text, has: (flag) => values.has(flag) } };
}

function findCommand(words: string[]): Command {
  const found = commands.find(({ path }) => path.every((word, index) => words[index] === word));
  if (found) return found;
  const begun = commands.filter(({ path }) => path[0] === words[0]).map(({ path }) => `platform ${path.join(" ")}`);
  if (begun.length > 0) throw new UsageProblem(`${words[0]} what? There is: ${begun.join(", ")}.`);
  const near = nearest(words[0] ?? "", [...new Set(commands.map(({ path }) => path[0] ?? ""))]);
  const hint = near ? ` Did you mean ${near}?` : "";
  throw new UsageProblem(`There is no command "${words[0]}".${hint} See platform --help.`);
}

function check({ path, flags: own, mostPositionals }: Command, values: Map<FlagName, unknown>, words: string[]): void {
  const name = `platform ${path.join(" ")}`;
  for (const flag of values.keys())
    if (!own.includes(flag)) throw new UsageProblem(`--${flag} is not a flag of ${name}. See ${name} --help.`);
  const extra = words[mostPositionals];
  if (extra !== undefined) throw new UsageProblem(`${name} does not take "${extra}". See ${name} --help.`);
}

/** Not strict in the parser: its own messages do not say what to do next. */
function split(argv: string[]): { values: Map<FlagName, string | true>; words: string[] } {
  const options = Object.fromEntries(
    Object.entries<Flag>(flags).map(([name, { value }]) => [
      name,
      { type: value ? ("string" as const) : ("boolean" as const) },
    ]),
  );
  const { tokens } = parseArgs({ args: argv, options, allowPositionals: true, strict: false, tokens: true });
  const values = new Map<FlagName, string | true>();
  for (const token of tokens)
    if (token.kind === "option") values.set(flagOf(token.name, token.rawName), givenValue(token));
  const positionals = tokens.filter((token) => token.kind === "positional");
  return { values, words: positionals.map(({ value }) => value) };
}

function flagOf(name: string, rawName: string): FlagName {
  if (name in flags) return name as FlagName;
  const short = { h: "help", V: "version" }[name];
  if (short) return short as FlagName;
  const near = nearest(name, Object.keys(flags));
  throw new UsageProblem(`Unknown flag ${rawName}.${near ? ` Did you mean --${near}?` : ""} See platform --help.`);
}

function givenValue({ name, value }: { name: string; value?: string | undefined }): string | true {
  const { value: wanted } = ((flags as Record<string, Flag>)[name] ?? {}) as Partial<Flag>;
  if (!wanted && value !== undefined) throw new UsageProblem(`--${name} takes no value, but "${value}" was given.`);
  if (!wanted) return true;
  if (value === undefined || value === "") throw new UsageProblem(`--${name} needs a value: --${name} ${wanted}.`);
  return value;
}
