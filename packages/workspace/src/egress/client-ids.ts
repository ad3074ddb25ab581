// Numbers the clients of a bridge, so that the host can ask about one of them in two bytes.
import type { Socket } from "node:net";

export interface ClientIds {
  /** Its number, until it is closed. Undefined: there are too many. */
  add(socket: Socket): Buffer | undefined;
  find(id: Buffer): Socket | undefined;
}

/** The host takes 512 channels at once: the others are for lookups, and for connections from there. */
const maxClients = 440;

export function openClientIds(): ClientIds {
  const clients = new Map<number, Socket>();
  let last = 0;
  return {
    add(socket) {
      if (clients.size >= maxClients) return undefined;
      do last = (last + 1) % 65_536;
      while (clients.has(last));
      const id = last;
      clients.set(id, socket);
      socket.once("close", () => clients.delete(id));
      const bytes = Buffer.alloc(2);
      bytes.writeUInt16BE(id);
      return bytes;
    },
    find: (id) => clients.get(id.readUInt16BE()),
  };
}
