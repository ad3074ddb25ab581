// The connections that the proxies of this process have made for sandboxed commands.
import type { Socket } from "node:net";

const connections = new Set<Socket>();

export function noteConnection(socket: Socket): void {
  connections.add(socket);
  socket.once("close", () => void connections.delete(socket));
}

/** Whether one of them has this local port, or is being made: its port is not known yet. */
export const isProxied = (port: number | undefined): boolean =>
  [...connections].some(({ localPort }) => localPort === undefined || localPort === port);
