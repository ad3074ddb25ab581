// Removes secrets from texts, also those that a run gets while it goes on.
import { type Scrub, type Secret, scrubber } from "@agentcli/engine";

export interface ExtendableScrub {
  scrub: Scrub;
  add(secrets: Secret[]): void;
}

export function extendableScrub(first: Secret[]): ExtendableScrub {
  let known = first;
  let current = scrubber(known);
  const scrub = (text: string): string => current(text);
  return {
    scrub: Object.assign(scrub, { settled: (text: string) => current.settled?.(text) ?? text.length }),
    add(secrets) {
      known = [...known, ...secrets];
      current = scrubber(known);
    },
  };
}
