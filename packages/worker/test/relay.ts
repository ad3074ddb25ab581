// A TCP relay that delays every byte by the same time, in both directions, without a limit of its throughput.
import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";

export interface Relay {
  url: string;
  /** Pieces that have left for the target, one for each write of the sender at most. */
  close(): void;
}

export async function openRelay(target: number, delayMs: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => later(delayMs, () => to.destroy()));
      from.on("data", (data) => {
        // So that a fast sender does not fill the memory of the relay.
        if (to.writableLength > maxBufferedBytes) {
          from.pause();
          to.once("drain", () => from.resume());
        }
        later(delayMs, () => void to.write(data));
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const maxBufferedBytes = 16 * 1024 * 1024;
const later = (delayMs: number, act: () => void): void => void setTimeout(act, delayMs);
