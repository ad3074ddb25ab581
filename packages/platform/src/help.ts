// Help for people, made from the tables of commands and flags.
import { type Command, commands } from "./commands.ts";
import { type Flag, type FlagName, flags } from "./flags.ts";

export function helpText(topic: string[]): string {
  const command = commands.find(({ path }) => path.join(" ") === topic.join(" "));
  return command ? commandHelp(command) : overview();
}

const overview = (): string => `platform: runs coding agents as a service

Usage: platform COMMAND [flags]

Commands:
${columns([...commands.map(({ path, summary }) => [path.join(" "), summary]), ["help COMMAND", "Explain a command"]])}

Flags:
${flagTable(["data", "config", "help", "version"])}

Everything can also be set by environment or in config.toml: platform doctor shows what is in effect.
`;

const commandHelp = ({ path, takes, summary, flags: own, notes }: Command): string => `${summary}

Usage: ${`platform ${path.join(" ")} ${takes}`.trim()}

Flags:
${flagTable([...own, "help"])}
${notes ? `\n${notes}\n` : ""}`;

const flagTable = (names: FlagName[]): string =>
  columns(
    names.map((name) => {
      const { value, help }: Flag = flags[name];
      return [`--${name}${value ? ` ${value}` : ""}`, help];
    }),
  );

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
