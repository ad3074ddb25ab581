import fc from "fast-check";
import { expect, test } from "vitest";
import { readAgentcliReaction } from "../src/hooks/agentcli/reaction.ts";
import { readPlatformReaction } from "../src/hooks/platform/reaction.ts";
import { hook } from "./hook-bench.ts";

test("whatever a hook prints, it is understood as something", () => {
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
      const read = definition.dialect === "agentcli" ? readAgentcliReaction : readPlatformReaction;
      const run = { kind: "ran", exitCode, stdout, stderr: stdout, timedOut: false, durationMs: 1 } as const;
      expect(["completed", "blocked", "failed"]).toContain(read(run, definition).status);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
