import { validateSessionLine } from "@agentcli/protocol/validators/session-line";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readClaudeSession } from "../src/import/claude-sessions.ts";
import { readCodexSession } from "../src/import/codex-sessions.ts";
import { sessionRecords } from "../src/import/session-records.ts";
import { created, settings } from "./session-files.ts";

const thread = { created: created("thread", "/work"), settings: settings("/work"), scrub: (text: string) => text };

const anything = fc.oneof(fc.jsonValue(), fc.constantFrom("message", "assistant", "user", "call_1", "text"));
const part = fc.record(
  {
    type: fc.constantFrom("text", "tool_use", "tool_result", "image"),
    text: anything,
    id: anything,
    content: anything,
  },
  { requiredKeys: [] },
);
const content = fc.oneof(fc.string(), fc.array(part), anything);
const types = [
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "local_shell_call",
  "thread_rolled_back",
];
const payload = fc.record(
  {
    type: fc.constantFrom(...types),
    role: fc.constantFrom("user", "assistant"),
    content,
    call_id: fc.constantFrom("a", "b"),
    name: anything,
    arguments: anything,
    output: content,
    num_turns: anything,
  },
  { requiredKeys: ["type"] },
);
const codexLine = fc.record({ type: fc.constantFrom("response_item", "event_msg"), payload, timestamp: anything });
const claudeLine = fc.record(
  {
    type: fc.constantFrom("user", "assistant", "system"),
    uuid: fc.constantFrom("1", "2", "3"),
    parentUuid: fc.constantFrom("1", "2", "3", null),
    message: fc.record({ content }),
    isMeta: anything,
  },
  { requiredKeys: ["type", "message"] },
);

const asText = (first: object, lines: unknown[]) => [first, ...lines].map((line) => JSON.stringify(line)).join("\n");

test.each([
  [
    "Codex",
    codexLine,
    (lines: unknown[]) =>
      readCodexSession("x", asText({ type: "session_meta", payload: { id: "i", cwd: "/work", timestamp: "" } }, lines)),
  ],
  [
    "Claude Code",
    claudeLine,
    (lines: unknown[]) =>
      readClaudeSession("x", asText({ type: "user", uuid: "0", sessionId: "s", cwd: "/work", message: {} }, lines)),
  ],
] as const)(
  "whatever the lines of a session of %s are, its records are valid and its last turn ends",
  (_, line, read) => {
    fc.assert(
      fc.property(fc.array(line as fc.Arbitrary<unknown>), (lines) => {
        const conversation = read(lines);
        if (conversation === null) return;
        const records = sessionRecords(conversation, thread);
        for (const stored of records)
          expect(validateSessionLine({ v: 1, ...stored }), JSON.stringify(stored)).toBe(true);
        expect(records.at(-1)?.record.type).toBe("turn.ended");
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
    );
  },
);
