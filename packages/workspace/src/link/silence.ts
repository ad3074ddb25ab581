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

const defaultSilenceMs = 60_000;
/** In the time of the longest silence: one that is lost must not end the connection. */
const pings = 4;

/** Returns how to choose another limit. `onSilence` is called before the connection ends for it. */
export function endAfterSilence(
  socket: Pingable,
  maxSilenceMs: number = defaultSilenceMs,
  onSilence: () => void = () => {},
): (maxSilenceMs: number) => void {
  let limitMs = maxSilenceMs;
  let lastMs = performance.now();
  const received = () => {
    lastMs = performance.now();
  };
  for (const event of ["ping", "pong", "message"] as const) socket.on(event, received);
  const isSilent = () => performance.now() - lastMs > limitMs;
  const endIfSilent = () => {
    if (!isSilent()) return;
    onSilence();
    socket.terminate();
  };
  const start = () =>
    setInterval(() => {
      if (socket.readyState === socket.OPEN) socket.ping();
      // Timers run before input: what arrived while this process did not run is read first.
      if (isSilent()) setImmediate(endIfSilent);
    }, limitMs / pings);
  let timer = start();
  socket.once("close", () => clearInterval(timer));
  return (chosenMs) => {
    limitMs = chosenMs;
    clearInterval(timer);
    if (socket.readyState === socket.OPEN) timer = start();
  };
}
