// Variables of prompts: facts of the event that started a run. Each has a type, and a value that is not of it is left out:
// texts that people write reach the run only as untrusted data. Pure.
import type { SourceEvent } from "./inbound/github.ts";

interface Variable {
  /** For people. */
  type: string;
  pattern: RegExp;
  read(event: SourceEvent): string | number | null | undefined;
}

const name = { type: "a name", pattern: /^[\w][\w./+-]{0,199}$/ };

export const variables: Record<string, Variable> = {
  "event.name": { ...name, read: ({ event }) => event },
  "event.repository": {
    ...{ type: "an address", pattern: /^https?:\/\/[\w.:/-]{1,500}$/ },
    read: ({ repositoryUrl }) => repositoryUrl,
  },
  "event.branch": { ...name, read: ({ branch }) => branch },
  "event.headBranch": { ...name, read: ({ pullRequest }) => pullRequest?.headBranch },
  "event.pullRequest": {
    ...{ type: "a number", pattern: /^[1-9]\d{0,8}$/ },
    read: ({ pullRequest }) => pullRequest?.number,
  },
  "event.label": { ...name, read: ({ label }) => label?.name },
  "event.conclusion": { ...name, read: ({ conclusion }) => conclusion },
  "event.commit": { type: "a commit", pattern: /^[0-9a-f]{40,64}$/, read: ({ commit }) => commit },
};

const reference = /\{\{\s*(event\.[\w.]*)\s*\}\}/g;

/** Of a prompt: names that there are not, for people. */
export const unknownVariables = (text: string): string[] =>
  [...text.matchAll(reference)].flatMap(([, found = ""]) => (Object.hasOwn(variables, found) ? [] : [found]));

/** Of an event, by name; only those whose value is of the type. */
export function variablesOf(event: SourceEvent): Record<string, string> {
  const values = Object.entries(variables).map(([found, { pattern, read }]) => {
    const value = String(read(event) ?? "");
    return [found, pattern.test(value) ? value : ""];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

/** What the event does not have, or not as it must be, is named as such. */
export const withVariables = (text: string, values: Record<string, string>): string =>
  text.replace(reference, (_whole, found: string) => values[found] ?? `(no ${found})`);
