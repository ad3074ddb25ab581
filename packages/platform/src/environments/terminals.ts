// The terminals of an environment: windows of one tmux session in the machine, which agent and people read and type into.
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import type { MachineCommands } from "./machine-commands.ts";
import { shellCommand } from "./machine-settings.ts";

export type Terminal = NonNullable<EnvironmentFile["terminals"]>[number];

/** The name of the session. */
export const terminalSession = "platform";

/** Null where all have started. */
export async function startTerminals(run: MachineCommands, terminals: Terminal[]): Promise<string | null> {
  const [first, ...others] = terminals;
  if (!first) return null;
  const setUp = ["set-option -g remain-on-exit on", "set-option -g history-limit 10000"].flatMap((option) => [
    ...option.split(" "),
    ";",
  ]);
  const window = ({ name, command }: Terminal) =>
    ["-n", name, "-c", run.root, ...shellCommand(command, run.user)].map(escapeEnd);
  const words = [
    ...["start-server", ";", ...setUp, "new-session", "-d", "-s", terminalSession, "-x", "200", "-y", "50"],
    ...window(first),
    ...others.flatMap((terminal) => [";", "new-window", "-d", "-t", terminalSession, ...window(terminal)]),
  ];
  const { exitCode, output } = await run.argv(["/bin/sh", "-c", 'exec tmux "$@"', "tmux", ...words]);
  if (exitCode === 0) return null;
  return `The terminals of the environment could not be started with tmux: ${output.trim()}`;
}

/** tmux takes a semicolon at the end of a word for the end of its command. */
const escapeEnd = (word: string): string => word.replace(/;$/, "\\;");
