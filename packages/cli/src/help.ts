// Help for people, made from the tables of commands and flags.
import { type Command, commands } from "./commands.ts";
import { type FlagName, flags } from "./flags.ts";

export function helpText(topic: string[]): string {
  const command = commands.find((candidate) =>
    [candidate.path, ...(candidate.aliases ?? [])].some((path) => path.join(" ") === topic.join(" ")),
  );
  if (command) return commandHelp(command);
  const group = inOrder().filter(({ path }) => path[0] === topic[0]);
  return group.length > 0 ? groupHelp(topic[0] ?? "", group) : overview();
}

const groupHelp = (word: string, group: Command[]): string => `agentcli ${word}: ${group.length} commands

Usage: agentcli ${word} COMMAND [flags]

Commands:
${columns(group.map((command) => [usage(command), command.summary]))}

More about one: agentcli help ${word} COMMAND
`;

const overview = (): string => `agentcli: a coding agent that works with nobody present

Usage: agentcli COMMAND [flags]

Commands:
${columns([...inOrder().map(({ path, summary }) => [path.join(" "), summary]), ["help COMMAND", "Explain a command"]])}

Flags:
${flagTable(["help", "version"])}

Try it, without a key and without a network:
  agentcli exec --model practice --sandbox workspace-write "create hello.txt containing Hello"
`;

/** What most people come for stands first. */
const groups = ["exec", "review", "sessions", "cost", "login", "logout", "config", "trust", "doctor", "sandbox"];

function inOrder(): Command[] {
  const rank = ({ path: [first = ""] }: Command) => (groups.includes(first) ? groups.indexOf(first) : groups.length);
  return [...commands].sort(
    (left, right) =>
      rank(left) - rank(right) ||
      (left.path[0] ?? "").localeCompare(right.path[0] ?? "") ||
      left.path.length - right.path.length,
  );
}

const commandHelp = (command: Command): string => `${command.summary}

Usage: agentcli ${usage(command)}

Flags:
${flagTable([...command.flags, "help"])}
${command.notes ? `\n${command.notes}\n` : ""}`;

const usage = ({ path, takes }: Command): string => `${path.join(" ")} ${takes}`.trim();

function flagTable(names: FlagName[]): string {
  return columns(names.map((name) => [flagName(name), describe(name)]));
}

function flagName(name: FlagName): string {
  const { short, value } = flags[name];
  return `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
}

function describe(name: FlagName): string {
  const { help, choices, repeatable } = flags[name];
  return `${help}${choices ? `: ${choices.join(", ")}` : ""}${repeatable ? " (repeatable)" : ""}`;
}

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
