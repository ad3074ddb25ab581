// A connection to a server that can be cut and restored.
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Proxy {
  url: string;
  /** Ends all connections, and refuses new ones. */
  cut(): void;
  /** The server may have another address by now. */
  restore(target?: string): void;
}

/** Closed at the end of the test. */
export async function openProxy(target: string): Promise<Proxy> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((incoming) => {
    if (isCut) return void incoming.destroy();
    const outgoing = connect(Number(port), hostname);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    cut,
    restore: (next = target) => {
      ({ hostname, port } = new URL(next));
      isCut = false;
    },
  };
}
