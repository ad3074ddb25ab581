// What grep looks for to find secrets in files: each line of each form of a value.
import { secretForms } from "@agentcli/engine";
import { type NamedValue, secretsToRedact } from "./redaction.ts";

export const patternsOf = (secrets: NamedValue[]): string[] =>
  [
    ...new Set(
      secretsToRedact(secrets)
        .flatMap(secretForms)
        .flatMap((form) => form.split("\n")),
    ),
  ].filter((line) => line.trim().length >= minPatternLength);

const minPatternLength = 6;
