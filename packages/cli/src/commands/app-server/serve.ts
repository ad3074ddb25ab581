// `agentcli app-server`: other programs drive the agent.
import { serve } from "@agentcli/app-server";
import { openAgent } from "../../app-server/agent.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export function run(invocation: Invocation, program: Program): Promise<number> {
  const environment = { ...program.environment, ownFiles: filesOfClients(invocation) };
  const serving = { ...program, environment };
  return serve(invocation, serving, openAgent(invocation, serving));
}

/** The socket file, token and secret: a sandboxed command must not connect to the server that runs it. */
function filesOfClients(invocation: Invocation): string[] {
  const socket = /^unix:\/\/(\/.*)$/.exec(invocation.text("listen") ?? "")?.[1];
  const secrets = [invocation.text("ws-token-file"), invocation.text("ws-shared-secret-file")];
  return [socket, ...secrets].flatMap((path) => path ?? []);
}
