// The key of an attempt: fixed, or fetched. A fetched key that was refused is replaced once.

import { type Attempt, type AttemptFailure, failAttempt, interrupted } from "./failure.ts";
import type { KeySource, Provider } from "./provider.ts";

export async function withKey(
  { apiKey }: Provider,
  attempt: (key: string | undefined) => Promise<Attempt>,
  signal: AbortSignal,
): Promise<Attempt> {
  if (typeof apiKey !== "function") return attempt(apiKey);
  const first = await fetchKey(apiKey, undefined, signal);
  if (first.kind === "fault") return first;
  const outcome = await attempt(first.key);
  if (outcome.kind === "replied" || outcome.fault.status !== 401) return outcome;
  const second = await fetchKey(apiKey, first.key, signal);
  if (second.kind === "fault") return second;
  return second.key === first.key ? outcome : attempt(second.key);
}

type FetchedKey = { kind: "key"; key: string } | AttemptFailure;

async function fetchKey(source: KeySource, refused: string | undefined, signal: AbortSignal): Promise<FetchedKey> {
  if (signal.aborted) return interrupted();
  let stop = (): void => {};
  const stopped = new Promise<AttemptFailure>((resolve) => {
    stop = () => resolve(interrupted());
  });
  signal.addEventListener("abort", stop);
  try {
    const fetched = source(refused).then((key): FetchedKey => ({ kind: "key", key }));
    return await Promise.race([fetched, stopped]);
  } catch (error) {
    return failAttempt("auth", error instanceof Error ? error.message : String(error));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
