import fc from "fast-check";
import { expect, test } from "vitest";
import { hookDialects } from "../../project/src/hooks/index.ts";
import { hook } from "./hook-harness.ts";

test("any output of a hook is read as some reaction", () => {
  const events = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "UserPromptSubmit",
    "preToolUse",
    "stop",
    "sessionStart",
  ];
  const json = fc.oneof(
    fc.json(),
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify({ hookSpecificOutput: value, decision: value, permission: value })),
  );
  fc.assert(
    fc.property(fc.constantFrom(...events), json, fc.integer({ min: 0, max: 3 }), (event, stdout, exitCode) => {
      const definition = hook(event);
      const run = { kind: "ran", exitCode, stdout, stderr: stdout, timedOut: false, durationMs: 1 } as const;
      expect(["completed", "blocked", "failed"]).toContain(
        hookDialects[definition.dialect].readReaction(run, definition).status,
      );
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
