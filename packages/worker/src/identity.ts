// The sockets that give the commands of agents identity tokens (OIDC), one for each agent. The platform signs; this side checks
// what is asked, and never has a key.
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AgentSocket, openAgentSocket } from "@agentcli/workspace";
import type { IdentityAnswerer } from "./identity-request.ts";

export interface IdentitySockets {
  /** The directory with `api.sock`, for the sandboxes of the agent. */
  open(agent: string): Promise<string>;
  close(agent: string): Promise<void>;
}

interface OpenedSocket {
  socket: AgentSocket;
  directory: string;
}

export function openIdentitySockets(dataDirectory: string, answerer: IdentityAnswerer): IdentitySockets {
  const base = join(dataDirectory, "sockets");
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base, { mode: 0o700 });
  const opened = new Map<string, Promise<OpenedSocket>>();
  const listen = async (agent: string): Promise<OpenedSocket> => {
    const directory = join(base, randomBytes(4).toString("hex"));
    const token = (request: Parameters<IdentityAnswerer>[1]) => answerer(agent, request);
    return { directory, socket: await openAgentSocket({ token }, { directory, connectsFor: "own-user" }) };
  };
  return {
    async open(agent) {
      const opening = opened.get(agent) ?? listen(agent);
      opened.set(agent, opening);
      opening.catch(() => opened.delete(agent));
      return (await opening).directory;
    },
    async close(agent) {
      const open = await opened.get(agent)?.catch(() => undefined);
      opened.delete(agent);
      if (open === undefined) return;
      open.socket.close();
      rmSync(open.directory, { recursive: true, force: true });
    },
  };
}
