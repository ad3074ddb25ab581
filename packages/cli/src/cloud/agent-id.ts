// An agent as it is named on the command line: its id, or the address of its page.
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";

const form = /^(?:https?:\/\/\S+\/agents\/)?(bc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/i;

export function agentIdIn({ positionals }: Invocation, command: string): string {
  const [text] = positionals;
  if (text === undefined)
    throw new CommandError("usage", `No agent given. Usage: ${command} AGENT. To list agents: agentcli cloud list`);
  const id = form.exec(text.trim())?.[1];
  if (id) return id.toLowerCase();
  throw new CommandError(
    "usage",
    `Invalid agent id "${text}": expected bc-<uuid> or the agent's URL. To list agents: agentcli cloud list`,
  );
}
