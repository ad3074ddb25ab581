// The server of the terminal interface in this process. Loaded after the first paint.
import { type InProcessServer, openInProcess } from "@agentcli/app-server";
import { openAgent } from "../app-server/agent.ts";
import type { Invocation } from "../command.ts";
import { listHooks } from "../hooks/listed.ts";
import { refuseUnpinned, trustListed } from "../hooks/trust.ts";
import type { Program } from "../program.ts";

export const openServer = (invocation: Invocation, program: Program): InProcessServer =>
  openInProcess(program, openAgent(invocation, program));

export async function trustKeys(keys: string[], invocation: Invocation, program: Program): Promise<void> {
  const meant = (await listHooks(invocation, program)).filter(({ definition }) => keys.includes(definition.key));
  refuseUnpinned(meant);
  await trustListed(meant, program);
}
