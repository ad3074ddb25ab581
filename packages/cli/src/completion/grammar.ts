// What can stand where on the command line, read from the tables of commands and flags.
import type { Command } from "../commands.ts";
import { type Flag, type FlagName, flags } from "../flags.ts";

/** Having read `from`, this word leads to `to`. Both are the words of a command so far; "" is the beginning. */
export interface Edge {
  from: string;
  word: string;
  to: string;
}

export interface Place {
  /** The words of the command so far. */
  at: string;
  next: { word: string; summary: string }[];
  flags: FlagName[];
}

export function edges(commands: Command[]): Edge[] {
  const all = commands.flatMap(({ path, aliases = [] }) =>
    [path, ...aliases].flatMap((words) =>
      words.map((word, index) => ({ from: joined(path, index), word, to: joined(path, index + 1) })),
    ),
  );
  return unique(all, ({ from, word }) => `${from}|${word}`);
}

export function places(commands: Command[]): Place[] {
  const commandAt = (at: string) => commands.find(({ path }) => path.join(" ") === at);
  const all = edges(commands);
  const ats = unique(["", ...all.map(({ to }) => to)], (at) => at);
  return ats.map((at) => ({
    at,
    next: all
      .filter(({ from }) => from === at)
      .map(({ word, to }) => ({ word, summary: commandAt(to)?.summary ?? "" })),
    flags: [...(commandAt(at)?.flags ?? []), "help", ...(at === "" ? (["version"] as const) : [])],
  }));
}

export type Completable = "choice" | "directory" | "file" | "other";

/** What the value of a flag can be completed to; undefined for a switch. */
export function valueKind({ value, choices }: Flag): Completable | undefined {
  if (value === undefined) return undefined;
  if (choices) return "choice";
  return ({ DIR: "directory", FILE: "file" } as const)[value as "DIR" | "FILE"] ?? "other";
}

/** All ways to write a flag. */
export const spellings = (name: FlagName): string[] => {
  const { short, aliases = [] } = flags[name];
  return [`--${name}`, ...(short ? [`-${short}`] : []), ...aliases.map((alias) => `--${alias}`)];
};

export const valueFlags = (): FlagName[] =>
  (Object.keys(flags) as FlagName[]).filter((name) => flags[name].value !== undefined);

const joined = (path: string[], count: number): string => path.slice(0, count).join(" ");

const unique = <T>(values: T[], keyOf: (value: T) => string): T[] => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];
