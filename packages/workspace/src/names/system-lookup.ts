// The system's own function for names, for the sources that only it can ask, such as multicast DNS. It blocks a thread of the
// process until all of them have answered, so that one lookup runs at a time.
import { lookup } from "node:dns/promises";

export type SystemLookup = (name: string, stop: AbortSignal) => Promise<string[]>;

/** Rejects when it is stopped, even if the system goes on with it. */
export function openSystemLookup(
  ask: (name: string) => Promise<string[]> = async (name) =>
    (await lookup(name, { all: true, order: "ipv4first" })).map(({ address }) => address),
): SystemLookup {
  let last: Promise<unknown> = Promise.resolve();
  return (name, stop) => {
    const turn = last.then(() => {
      stop.throwIfAborted();
      return ask(name);
    });
    last = turn.catch(() => {});
    return Promise.race([turn, rejectOn(stop)]);
  };
}

const rejectOn = (stop: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener("abort", () => reject(stop.reason), { once: true });
  });
