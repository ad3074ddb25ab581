// A TCP relay between a client and a server: delays every byte by the same time in both directions, can be cut, and can
// lead to another server from the next connection on.
import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";

export interface Relay {
  /** Of loopback; empty if it listens on a Unix socket. */
  url: string;
  /** Later connections go to this port of loopback. */
  lead(target: number): void;
  /** No byte passes, in either direction, and neither side learns of it. */
  cut(): void;
  /** What was held back passes, in its order. */
  restore(): void;
  /** Both sides learn that the connections have ended, and new ones are refused until `restore`. */
  drop(): void;
  close(): void;
}

/** `to`: a port of loopback, or the path of a Unix socket. `socketPath`: where it listens in place of a port. */
export async function openRelay(to: number | string, delayMs = 0, socketPath?: string): Promise<Relay> {
  let target = to;
  const sockets = new Set<Socket>();
  let held: (() => void)[] | null = null;
  let isRefusing = false;
  const pass = (act: () => void): void => {
    if (held !== null) held.push(act);
    else if (delayMs === 0) act();
    else setTimeout(act, delayMs);
  };
  const server = createServer((near) => {
    near.on("error", () => {});
    if (isRefusing) return void near.destroy();
    const far = typeof target === "number" ? dial(target, "127.0.0.1") : dial(target);
    join(near, far, { sockets, pass });
  });
  if (socketPath === undefined) server.listen(0, "127.0.0.1");
  else server.listen(socketPath);
  await once(server, "listening");
  const address = server.address();
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "",
    lead(next) {
      target = next;
    },
    cut() {
      held ??= [];
    },
    restore() {
      const waiting = held ?? [];
      held = null;
      isRefusing = false;
      for (const act of waiting) act();
    },
    drop() {
      isRefusing = true;
      destroyAll();
    },
    close() {
      destroyAll();
      server.close();
    },
  };
}

interface Passage {
  sockets: Set<Socket>;
  /** Now, later, or once the relay is restored. */
  pass(act: () => void): void;
}

function join(near: Socket, far: Socket, { sockets, pass }: Passage): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(from);
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      pass(() => to.destroy());
    });
    from.on("data", (data) => {
      pass(() => void to.write(data));
      // So that a fast sender does not fill the memory of the relay.
      if (to.writableLength < maxBufferedBytes) return;
      from.pause();
      to.once("drain", () => from.resume());
    });
  }
}

const maxBufferedBytes = 16 * 1024 * 1024;
