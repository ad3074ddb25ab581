// What grep looks for to find secrets in files: each line of each form of a value. A value that is too short to be redacted is
// not looked for: its forms are in other files too, such as the six digits that encode three letters.
import { secretForms } from "@agentcli/engine";
import { type NamedValue, secretsToRedact } from "./redaction.ts";

export const patternsOf = (secrets: NamedValue[]): string[] =>
  [
    ...new Set(
      secretsToRedact(secrets.filter(({ value }) => value.trim().length >= minPatternLength))
        .flatMap(secretForms)
        .flatMap((form) => form.split("\n")),
    ),
  ].filter((line) => line.trim().length >= minPatternLength);

const minPatternLength = 6;
