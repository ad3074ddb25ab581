// `agentcli app-server` as a whole: all parts on the requested transport.
import type { Invocation } from "@agentcli/command-line";
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { parts } from "./parts.ts";
import type { Agent, Program } from "./program.ts";
import { type AppServer, openServer } from "./server.ts";
import { readAccess } from "./transports/access.ts";
import { parseAddress } from "./transports/address.ts";
import { serveStdio } from "./transports/stdio.ts";
import { aborted } from "./waiting.ts";

export async function serve(invocation: Invocation, program: Program, agent: Agent): Promise<number> {
  const carry = chooseTransport(invocation, program);
  const server = openServer(program, agent, parts);
  try {
    await carry(server);
  } finally {
    await server.close();
  }
  return exitCodes.completed.code;
}

/** Everything that can be wrong with the flags is found before anything is started. */
function chooseTransport(invocation: Invocation, program: Program): (server: AppServer) => Promise<void> {
  const listen = invocation.text("listen");
  if (listen !== undefined && invocation.has("stdio"))
    throw new CommandError("usage", "--stdio and --listen cannot be used together.");
  const address = parseAddress(listen ?? "stdio://", program.environment.agentHome);
  const access = readAccess(invocation, address, program.environment.agentHome);
  const { signal, reporter } = program;
  if (address.kind === "stdio") return (server) => serveStdio(server, process.stdin, program);
  if (address.kind === "off") return () => aborted(signal);
  const onListening = (where: string) => {
    for (const note of access.notes) reporter.log(note);
    reporter.log(`agentcli app-server listening on: ${where}`);
  };
  return async (server) => {
    const { serveWebSocket } = await import("./transports/websocket.ts");
    await serveWebSocket(server, { address, access: access.check, onListening, signal });
  };
}
