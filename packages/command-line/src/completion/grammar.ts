// What can follow what on the command line, read from the tables of commands and flags.
import type { CommandDescription, Flag, Syntax } from "../command.ts";

/** After `from`, this word leads to `to`. Both are the words of a command so far; "" is the beginning. */
export interface Edge {
  from: string;
  word: string;
  to: string;
}

export interface Position {
  /** The words of the command so far. */
  at: string;
  next: { word: string; summary: string }[];
  flags: string[];
}

export function edges(commands: readonly CommandDescription[]): Edge[] {
  const all = commands.flatMap(({ path, aliases = [] }) =>
    [path, ...aliases].flatMap((words) =>
      words.map((word, index) => ({ from: joined(path, index), word, to: joined(path, index + 1) })),
    ),
  );
  return unique(all, ({ from, word }) => `${from}|${word}`);
}

export function positions(commands: readonly CommandDescription[]): Position[] {
  const commandAt = (at: string) => commands.find(({ path }) => path.join(" ") === at);
  const all = edges(commands);
  const ats = unique(["", ...all.map(({ to }) => to)], (at) => at);
  return ats.map((at) => ({
    at,
    next: all
      .filter(({ from }) => from === at)
      .map(({ word, to }) => ({ word, summary: commandAt(to)?.summary ?? "" })),
    flags: [...(commandAt(at)?.flags ?? []), "help", ...(at === "" ? ["version"] : [])],
  }));
}

export type ValueKind = "choice" | "directory" | "file" | "other";

/** What the value of a flag can be completed to; undefined for a switch. */
export function valueKind({ value, choices }: Flag): ValueKind | undefined {
  if (value === undefined) return undefined;
  if (choices) return "choice";
  return ({ DIR: "directory", FILE: "file" } as const)[value as "DIR" | "FILE"] ?? "other";
}

/** All ways to write a flag. */
export const spellings = ([name, { short, aliases = [] }]: [string, Flag]): string[] => [
  `--${name}`,
  ...(short ? [`-${short}`] : []),
  ...aliases.map((alias) => `--${alias}`),
];

export const valueFlags = ({ flags }: Syntax): [string, Flag][] =>
  Object.entries(flags).filter(([, { value }]) => value !== undefined);

export const helpOf = (name: string, { flags }: Syntax): string => flags[name]?.help ?? "";

const joined = (path: string[], count: number): string => path.slice(0, count).join(" ");

const unique = <T>(values: T[], keyOf: (value: T) => string): T[] => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];
