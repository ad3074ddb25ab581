// The socket of an agent's machine, open while a run of the agent is driven here.
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type AgentSocketService, openAgentSocket } from "@agentcli/workspace";
import type { Settings } from "../../foundation/index.ts";
import type { AgentOnServer, ServeIdentity } from "../../identity-tokens/index.ts";

export interface RunSocket {
  /** With the socket: shown to commands of the agent alone. */
  directory: string;
  /** Whether it gives credentials of a cloud role. */
  hasAwsCredentials: boolean;
  close(): void;
}

/** Where commands find it. */
export const socketPath = "/run/platform/api.sock";
export const socketVariable = { PLATFORM_AGENT_SOCKET: socketPath };

/** The same for every run of the agent: its machine may have it mounted still. */
const socketDirectory = ({ dataDirectory }: Pick<Settings, "dataDirectory">, directory: string): string =>
  join(dataDirectory, "sockets", directory);

export interface SocketContext {
  settings: Pick<Settings, "dataDirectory">;
  serve: ServeIdentity;
  /** Null: the agent has no cloud role. */
  awsCredentials: AgentSocketService["awsCredentials"] | null;
}

export async function openRunSocket(
  { settings, serve, awsCredentials }: SocketContext,
  agent: AgentOnServer & { directory: string },
): Promise<RunSocket> {
  // No other user can enter the directory of all of them: which agent a command works for is decided by what is mounted.
  mkdirSync(join(settings.dataDirectory, "sockets"), { recursive: true, mode: 0o700 });
  const directory = socketDirectory(settings, agent.directory);
  const service = { ...serve(agent), ...(awsCredentials && { awsCredentials }) };
  const socket = await openAgentSocket(service, { directory, connectsFor: "every-user" });
  return { directory, hasAwsCredentials: awsCredentials !== null, close: socket.close };
}

/** Of an agent that was deleted, or archived a while ago. */
export async function removeAgentSocket(settings: Pick<Settings, "dataDirectory">, directory: string): Promise<void> {
  await rm(socketDirectory(settings, directory), { recursive: true, force: true });
}
