// Help for people: what the commands do, with examples, made from the flag table.
import { execFlags, type Flag, resumeFlags, rootFlags } from "./flags.ts";

export function helpText(topic: string | null): string {
  return topic === "exec" || topic === "e" || topic === "resume" ? execHelp() : overview();
}

const overview = (): string => `agentcli: a coding agent that works with nobody present

Usage: agentcli <command> [flags]

Commands:
  exec (e) PROMPT      carry out one prompt and print the final message
  exec resume          go on with an earlier session
  help [COMMAND]       explain a command

${flagTable(rootFlags)}

Try it, without a key and without a network:
  agentcli exec --model practice --sandbox workspace-write "create hello.txt containing Hello"
`;

const execHelp = (): string => `Carry out one prompt in a sandbox and print the final message

Usage:
  agentcli exec [flags] PROMPT           progress on standard error, final message on standard output
  agentcli exec [flags] -                the prompt comes from standard input
  … | agentcli exec [flags] PROMPT       what is piped in is context for the prompt
  agentcli exec resume ID [PROMPT]       go on with a session
  agentcli exec resume --last [PROMPT]   go on with the newest session of this directory

${flagTable(execFlags)}

For resume:
${flagTable(resumeFlags)}

Without a prompt, resume goes on with a turn that was cut off.
Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 credentials, 4 provider unavailable,
6 a limit, 8 no sandbox, 11 no final message, 130 interrupted.

Examples:
  agentcli exec -s workspace-write "fix the failing test"
  git diff | agentcli exec "write a commit message for this diff"
  agentcli exec --json -o summary.txt "list the TODOs" | jq .type
`;

function flagTable(flags: Record<string, Flag>): string {
  const rows = Object.entries(flags).map(([name, flag]) => [flagName(name, flag), describe(flag)] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}

const flagName = (name: string, { short, value }: Flag): string =>
  `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;

const describe = ({ help, choices, repeatable }: Flag): string =>
  `${help}${choices ? `: ${choices.join(", ")}` : ""}${repeatable ? " (repeatable)" : ""}`;
