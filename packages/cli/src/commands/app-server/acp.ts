// `agentcli acp`: an editor hosts the agent, over the Agent Client Protocol on the standard streams.
import { serveEditor } from "@agentcli/acp";
import { openInProcess } from "@agentcli/app-server";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { openAgent } from "../../app-server/agent.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { permissionsOf } from "../../tui/open.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { print, reporter, version, signal } = program;
  const server = openInProcess(program, openAgent(invocation, program));
  try {
    await serveEditor({
      connect: server.connect,
      input: process.stdin,
      print,
      log: (line) => reporter.log(line),
      version,
      overrides: permissionsOf(invocation),
      signal,
    });
  } finally {
    await server.close();
  }
  return exitCodes.completed.code;
}
