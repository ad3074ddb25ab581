// The key of a try: fixed, or fetched; a fetched one that was refused is exchanged for another, once.
import type { KeySource, Provider } from "./provider.ts";
import { type Attempt, interrupted, type Trouble, trouble } from "./trouble.ts";

export async function withKey(
  { apiKey }: Provider,
  ask: (key: string | undefined) => Promise<Attempt>,
  signal: AbortSignal,
): Promise<Attempt> {
  if (typeof apiKey !== "function") return ask(apiKey);
  const first = await fetchKey(apiKey, undefined, signal);
  if (first.kind === "fault") return first;
  const outcome = await ask(first.key);
  if (outcome.kind === "replied" || outcome.fault.status !== 401) return outcome;
  const second = await fetchKey(apiKey, first.key, signal);
  if (second.kind === "fault") return second;
  return second.key === first.key ? outcome : ask(second.key);
}

type Fetched = { kind: "key"; key: string } | Trouble;

async function fetchKey(source: KeySource, refused: string | undefined, signal: AbortSignal): Promise<Fetched> {
  if (signal.aborted) return interrupted();
  let stop = (): void => {};
  const stopped = new Promise<Trouble>((resolve) => {
    stop = () => resolve(interrupted());
  });
  signal.addEventListener("abort", stop);
  try {
    const fetched = source(refused).then((key): Fetched => ({ kind: "key", key }));
    return await Promise.race([fetched, stopped]);
  } catch (error) {
    return trouble("auth", error instanceof Error ? error.message : String(error));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
