// Help for people, made from the tables of commands and flags.
import type { CommandDescription, Syntax } from "./command.ts";

export function helpText(topic: string[], syntax: Syntax): string {
  const command = syntax.commands.find((candidate) =>
    [candidate.path, ...(candidate.aliases ?? [])].some((path) => path.join(" ") === topic.join(" ")),
  );
  if (command) return commandHelp(command, syntax);
  const group = inOrder(syntax).filter(({ path }) => path[0] === topic[0]);
  return group.length > 0 ? groupHelp(topic[0] ?? "", group, syntax) : overview(syntax);
}

const groupHelp = (word: string, group: CommandDescription[], { program }: Syntax): string =>
  `${program} ${word}: ${group.length} commands

Usage: ${program} ${word} COMMAND [flags]

Commands:
${columns(group.map((command) => [usage(command), command.summary]))}

More about one: ${program} help ${word} COMMAND
`;

const overview = (syntax: Syntax): string => `${syntax.program}: ${syntax.overview.summary}

Usage: ${syntax.program} COMMAND [flags]

Commands:
${columns([...inOrder(syntax).map(({ path, summary }) => [path.join(" "), summary]), ["help COMMAND", "Explain a command"]])}

Flags:
${flagTable(syntax.overview.flags, syntax)}

${syntax.overview.footer}
`;

/** What most people come for stands first. */
function inOrder({ commands, overview: { first } }: Syntax): CommandDescription[] {
  if (!first) return [...commands];
  const rank = ({ path: [word = ""] }: CommandDescription) =>
    first.includes(word) ? first.indexOf(word) : first.length;
  return [...commands].sort(
    (left, right) =>
      rank(left) - rank(right) ||
      (left.path[0] ?? "").localeCompare(right.path[0] ?? "") ||
      left.path.length - right.path.length,
  );
}

const commandHelp = (command: CommandDescription, syntax: Syntax): string => `${command.summary}

Usage: ${syntax.program} ${usage(command)}

Flags:
${flagTable([...command.flags, "help"], syntax)}
${command.notes ? `\n${command.notes}\n` : ""}`;

const usage = ({ path, takes }: CommandDescription): string => `${path.join(" ")} ${takes}`.trim();

function flagTable(names: readonly string[], syntax: Syntax): string {
  const indent = Object.values(syntax.flags).some(({ short }) => short) ? "    " : "";
  return columns(
    names.map((name) => {
      const { short, value, help = "", choices, repeatable } = syntax.flags[name] ?? {};
      return [
        `${short ? `-${short}, ` : indent}--${name}${value ? ` ${value}` : ""}`,
        `${help}${choices ? `: ${choices.join(", ")}` : ""}${repeatable ? " (repeatable)" : ""}`,
      ];
    }),
  );
}

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
