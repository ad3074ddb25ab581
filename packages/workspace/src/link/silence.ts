// Notices that a WebSocket is half open: both sides send pings, and one that receives nothing for long ends it.

/** What is used of a WebSocket. */
export interface Pingable {
  on(event: "ping" | "pong" | "message", listener: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  ping(): void;
  terminate(): void;
  readonly readyState: number;
  readonly OPEN: number;
}

const maxSilenceMs = 60_000;
const pingEveryMs = 15_000;

export function endAfterSilence(socket: Pingable): void {
  let lastMs = performance.now();
  const received = () => {
    lastMs = performance.now();
  };
  for (const event of ["ping", "pong", "message"] as const) socket.on(event, received);
  const timer = setInterval(() => {
    if (performance.now() - lastMs > maxSilenceMs) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }, pingEveryMs);
  socket.once("close", () => clearInterval(timer));
}
