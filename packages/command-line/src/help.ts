// Help for people, made from the tables of commands and flags and from the layout of the program.
import { nearest } from "@agentcli/project/nearest";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { CommandDescription, Syntax } from "./command.ts";
import { CommandError } from "./error.ts";
import { unknownCommand } from "./parse.ts";

/** What help adds to the tables: texts, and the order of commands and flags. */
export interface HelpLayout {
  summary: string;
  /** Commands by their first word; those in no group come last. */
  commandGroups: readonly HelpGroup[];
  /** Flags by name; those in no group come first. */
  flagGroups: readonly HelpGroup[];
  /** Flags of the program itself. */
  flags: readonly string[];
  /** Commands that run the agent: they may end with any exit code, and the overview names the flags of the first. */
  runs: readonly string[];
  /** Exit codes of all other commands, as a sentence. */
  exitCodes: string;
  /** Texts below the flags of a command, by its words, for a table that every start loads. */
  notes?: Readonly<Record<string, string>>;
  footer: string;
}

export interface HelpGroup {
  title: string;
  names: readonly string[];
}

interface Page {
  syntax: Syntax;
  layout: HelpLayout;
}

/** `topic` is a command or the first word of several; empty for the overview. */
export function helpText(topic: string[], syntax: Syntax, layout: HelpLayout): string {
  const page = { syntax, layout };
  const command = findTopic(topic, syntax);
  if (command) return commandHelp(command, page);
  const [word, ...more] = topic;
  if (word === undefined || topic.join() === "help") return overview(page);
  const isGroup = more.length === 0 && syntax.commands.some(({ path }) => path[0] === word);
  if (!isGroup) throw unknownTopic(topic, syntax);
  return groupHelp(word, page);
}

function unknownTopic(words: string[], syntax: Syntax): CommandError {
  const asked = words.join(" ");
  const paths = syntax.commands.map(({ path }) => path);
  const firstWords = [...new Set(paths.map((path) => path[0] ?? ""))].sort();
  // `resum` means `exec resume`.
  const byLastWord = () => paths.find((path) => asked.length > 2 && path.at(-1)?.startsWith(asked))?.join(" ");
  const near = nearest(asked, [...firstWords, ...paths.map((path) => path.join(" "))]) ?? byLastWord();
  const unknown = `There is no command "${asked}"`;
  if (near) return new CommandError("usage", `${unknown}. The nearest is "${near}". See ${syntax.program} --help.`);
  if (firstWords.includes(words[0] ?? "")) return unknownCommand(words, syntax);
  return new CommandError("usage", `${unknown}, and none with a name near it. The commands: ${firstWords.join(", ")}.`);
}

const findTopic = (topic: string[], { commands }: Syntax): CommandDescription | undefined =>
  commands.find(({ path, aliases = [] }) => [path, ...aliases].some((name) => name.join(" ") === topic.join(" ")));

function groupHelp(word: string, { syntax: { program, commands } }: Page): string {
  const group = commands.filter(({ path }) => path[0] === word);
  return sections(
    `${program} ${word}: ${group.length} ${group.length === 1 ? "command" : "commands"}`,
    `Usage: ${program} ${word} COMMAND [flags]`,
    `Commands:\n${columns(group.map((command) => [usage(command), command.summary]))}`,
    `More about one: ${program} help ${word} COMMAND`,
  );
}

const overview = ({ syntax, layout }: Page): string =>
  sections(
    `${syntax.program}: ${layout.summary}`,
    `Usage: ${syntax.program} COMMAND [flags]`,
    ...commandTables({ syntax, layout }),
    `Flags:\n${flagTable(layout.flags, syntax)}`,
    runFlags({ syntax, layout }),
    layout.runs.length > 0 ? exitCodeTable() : `Exit codes: ${layout.exitCodes}`,
    layout.footer,
  );

function commandTables({ syntax: { commands }, layout: { commandGroups } }: Page): string[] {
  const words = [...new Set(commands.map(({ path: [word = ""] }) => word))];
  return inGroups(words, commandGroups, "Other commands").map(({ title, names }) => {
    const rows = names.flatMap((word) => commands.filter(({ path }) => path[0] === word).sort(shorterFirst));
    return `${title}:\n${columns(rows.map(({ path, summary }) => [path.join(" "), summary]))}`;
  });
}

const shorterFirst = (left: CommandDescription, right: CommandDescription): number =>
  left.path.length - right.path.length;

/** The names alone: what they mean is in the help of the command. */
function runFlags({ syntax, layout: { runs, flagGroups } }: Page): string {
  const [first] = runs;
  const command = first === undefined ? undefined : findTopic(first.split(" "), syntax);
  if (!command) return "";
  const rows = inGroups(command.flags, flagGroups, "More").map(({ title, names }) => [
    `${title}:`,
    names
      .map((name) => (syntax.flags[name]?.short ? `-${syntax.flags[name].short} --${name}` : `--${name}`))
      .join(", "),
  ]);
  return `Flags of ${runs.join(", ")} (explained by ${syntax.program} help ${first}):\n${columns(rows)}`;
}

function commandHelp(command: CommandDescription, { syntax, layout }: Page): string {
  const path = command.path.join(" ");
  const aliases = (command.aliases ?? []).map((words) => `${syntax.program} ${words.join(" ")}`);
  const groups = inGroups(command.flags, layout.flagGroups, "Flags");
  const title = (name: string) => (name === "Flags" || groups.length === 1 ? "Flags" : `Flags: ${name.toLowerCase()}`);
  return sections(
    command.summary,
    `Usage: ${syntax.program} ${usage(command)}${aliases.length > 0 ? `\nAlso: ${aliases.join(", ")}` : ""}`,
    ...groups.map(({ title: name, names }) => `${title(name)}:\n${flagTable(names, syntax)}`),
    `${groups.length === 0 ? "Flags" : "Help"}:\n${flagTable(["help"], syntax)}`,
    layout.notes?.[path] ?? command.notes ?? "",
    layout.runs.includes(path) ? exitCodeTable() : `Exit codes: ${layout.exitCodes}`,
  );
}

const usage = ({ path, takes }: CommandDescription): string => `${path.join(" ")} ${takes}`.trim();

const exitCodeTable = (): string =>
  `Exit codes:\n${columns(Object.values(exitCodes).map(({ code, when }) => [String(code).padStart(3), when]))}`;

/** The groups that have one of these names; the names in no group under a title of their own. */
function inGroups(names: readonly string[], groups: readonly HelpGroup[], restTitle: string): HelpGroup[] {
  const grouped = groups.map((group) => ({ ...group, names: group.names.filter((name) => names.includes(name)) }));
  const rest = names.filter((name) => !groups.some((group) => group.names.includes(name)));
  return [...grouped, { title: restTitle, names: rest }].filter((group) => group.names.length > 0);
}

function flagTable(names: readonly string[], syntax: Syntax): string {
  const indent = Object.values(syntax.flags).some(({ short }) => short) ? "    " : "";
  return columns(
    names.map((name) => {
      const { short, value, valueByDefault, help = "", choices, repeatable, aliases = [] } = syntax.flags[name] ?? {};
      const shown = valueByDefault === undefined ? value : `[${value}]`;
      const also = aliases.map((alias) => (alias.length === 1 ? `-${alias}` : `--${alias}`)).join(", ");
      return [
        `${short ? `-${short}, ` : indent}--${name}${value ? ` ${shown}` : ""}`,
        `${help}${choices ? `: ${choices.join(", ")}` : ""}${repeatable ? " (repeatable)" : ""}${also && ` (also ${also})`}`,
      ];
    }),
  );
}

const maxLeft = 30;
const maxWidth = 100;

/** Two columns; a long entry on the left has a line of its own. */
function columns(rows: string[][]): string {
  const width = Math.min(maxLeft, Math.max(...rows.map(([left = ""]) => left.length)));
  const indent = " ".repeat(width + 4);
  return rows
    .map(([left = "", right = ""]) => {
      const text = wrap(right, maxWidth - indent.length).join(`\n${indent}`);
      return left.length > width ? `  ${left}\n${indent}${text}` : `  ${left.padEnd(width)}  ${text}`;
    })
    .join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const sections = (...texts: string[]): string => `${texts.filter((text) => text !== "").join("\n\n")}\n`;
