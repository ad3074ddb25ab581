// What of a value is replaced, wherever it is shown.
import { scrubber } from "@agentcli/engine";
import { expect, test } from "vitest";
import { secretsToRedact } from "../../src/secrets/index.ts";

test.each([
  ["as it is", "first-part-91\nsecond-part-77\n"],
  ["without its last line end, as shells pass it on", "first-part-91\nsecond-part-77"],
  ["as lines that a patch adds", "first-part-91\n+second-part-77"],
  ["as lines that a patch removes", "first-part-91\n-second-part-77"],
  ["as lines around a change", "first-part-91\n second-part-77"],
])("a value of several lines is redacted %s", (_, shown) => {
  const scrub = scrubber(secretsToRedact([{ name: "KEY", value: "first-part-91\nsecond-part-77\n" }]));
  expect(scrub(`(${shown})`)).toBe("([REDACTED])");
});
