// A TCP proxy in front of a database that can stop answering: connections are accepted and kept, and nothing arrives.
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";

export interface DatabaseProxy {
  /** For DATABASE_URL. */
  url: string;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Of a database that listens on a Unix socket, as that of the tests does. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const socketPath = join(decodeURIComponent(target.hostname), ".s.PGSQL.5432");
  const sockets = new Set<Socket>();
  let held: (() => void)[] | null = null;
  const forward = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("error", () => {});
    from.on("data", (chunk) => (held ? held.push(() => to.write(chunk)) : to.write(chunk)));
    from.once("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const database = createConnection(socketPath);
    forward(client, database);
    forward(database, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${target.username}:${target.password}@127.0.0.1:${port}${target.pathname}`,
    pause() {
      held ??= [];
    },
    resume() {
      const waiting = held ?? [];
      held = null;
      for (const send of waiting) send();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
