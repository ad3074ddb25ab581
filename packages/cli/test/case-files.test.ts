import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readCases } from "../src/cases/read-case-file.ts";

const sample = (name: string) =>
  readFileSync(join(import.meta.dirname, "../../../examples/sample/.agentcli/tests", name), "utf8");

const problemsIn = (text: string): string[] =>
  readCases("/project/.agentcli/tests/x.yaml", () => text).problems.map(({ line, message }) => `${line}: ${message}`);

/** One case with these lines below its list item. */
const caseOf = (...lines: string[]): string =>
  ["cases:", "  - name: x", ...lines.map((line) => `    ${line}`)].join("\n");

const mistakes: [what: string, text: string, problem: string | RegExp][] = [
  ["an empty file", "", "1: a file of tests has to be a table, it is empty"],
  ["text", "hello", '1: a file of tests has to be a table, it is "hello"'],
  ["broken YAML", "cases:\n  - name: [a", /^2: not valid YAML: .*flow sequence/i],
  ["two keys of one name", "cases:\n  - prompt: a\n    prompt: b", /^3: not valid YAML: Map keys must be unique/],
  ["two documents", "cases: []\n---\ncases: []", "2: not valid YAML: only one YAML document per file"],
  ["no cases", "sandbox: read-only", '1: there is no "cases": write a list of cases below it'],
  ["an empty list", "cases: []", "1: the list of cases is empty"],
  ["an unknown member", "case: []", '1: a file of tests cannot have "case". Did you mean cases?'],
  ["no prompt", caseOf("expect: { exit: 0 }"), '2: a case needs a "prompt", or a "cassette" that has one'],
  ["no expectation", caseOf("prompt: go"), '2: a case needs "expect": nothing is tested'],
  [
    "an unknown expectation",
    caseOf("prompt: go", "expect:", "  exit: 0", "  hook_refuse: x"),
    '6: expect cannot have "hook_refuse". Did you mean hook_refused?',
  ],
  [
    "an unknown member of an expectation",
    caseOf("prompt: go", "expect:", "  tool_denied:", "    - tool: a", "    - { tool: a, why: b }"),
    /^7: tool_denied cannot have "why"\. It can have tool, input, reason, agent$/,
  ],
  [
    "a number that is text",
    caseOf("prompt: go", "expect: { exit: zero }"),
    /^4: exit has to be a number .* it is "zero"$/,
  ],
  [
    "a wide sandbox",
    caseOf("prompt: go", "sandbox: danger-full-access", "expect: { exit: 0 }"),
    /^4: sandbox cannot be/,
  ],
  [
    "a path outside",
    caseOf("prompt: go", "files: { ../x: y }", "expect: { exit: 0 }"),
    /^4: files has to be a path below/,
  ],
  [
    "a path in .git",
    caseOf("prompt: go", "files: { .git/config: y }", "expect: { exit: 0 }"),
    /^4: files cannot write/,
  ],
  ["a bad expression", caseOf("prompt: go", "expect:", "  message: /(/"), /^5: Invalid regular expression/],
  [
    "an unknown reply",
    caseOf("prompt: go", "model:", "  - runs: ls", "expect: { exit: 0 }"),
    /^5: a reply of model cannot/,
  ],
  ["an empty reply", caseOf("prompt: go", "model:", "  - {}", "expect: { exit: 0 }"), /^5: a reply has a message/],
  [
    "arguments without a tool",
    caseOf("prompt: go", "model:", "  - with: {}", "expect: { exit: 0 }"),
    /^5: "with" needs "call"/,
  ],
  ["two sources", caseOf("model: []", "cassette: a", "prompt: go", "expect: { exit: 0 }"), /^4: a case has either/],
  ["a key that is a list", "cases:\n  - ? [a]\n    : b", /^2: a key has to be a word/],
  ["an endless alias", "cases: &a [*a]", /nested more than 30 levels deep/],
];

test.each(mistakes)("%s is reported with its line and the reason", (_, text, problem) => {
  expect(problemsIn(text)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
});

test("a case with a mistake does not hide the others, and two of one name are refused", () => {
  const good = "  - name: a\n    prompt: go\n    expect: { exit: 0 }\n";
  const { cases, problems } = readCases("x.yaml", () => `cases:\n${good}  - prompt: only\n${good}`);
  expect(cases).toHaveLength(2);
  expect(problems).toEqual([
    { line: 5, message: 'a case needs "expect": nothing is tested' },
    { line: 6, message: 'another case is called "a" (line 2). Choose another name' },
  ]);
});

test("aliases cannot make a small file large", () => {
  const layers = Array.from(
    { length: 12 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(", ")}]`,
  );
  expect(problemsIn(["a0: &a0 x", ...layers].join("\n"))).toEqual([expect.stringMatching(/more than 50000 values/)]);
});

test("whatever is in a file, it is read or refused with a line of it", () => {
  const texts = ["hooks.yaml", "project.yaml"].map(sample);
  const damaged = fc
    .tuple(fc.constantFrom(...texts), fc.nat(3_000), fc.nat(60), fc.oneof(fc.string(), fc.string({ unit: "binary" })))
    .map(([text, at, removed, inserted]) => text.slice(0, at) + inserted + text.slice(at + removed));
  const members = fc.constantFrom(
    "cases",
    "name",
    "prompt",
    "model",
    "expect",
    "not",
    "files",
    "file",
    "exit",
    "budget",
    "run",
  );
  const anyValue = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("table"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }),
    table: fc.dictionary(fc.oneof(members, fc.string()), tie("value"), { maxKeys: 5 }),
  })).value;
  const structured = fc.tuple(fc.array(anyValue)).map(([cases]) => JSON.stringify({ cases }));
  fc.assert(
    fc.property(fc.oneof(fc.string(), damaged, structured), (text) => {
      const lines = text.split(/\r\n?|\n/).length;
      const { problems, cases } = readCases("x.yaml", () => text);
      expect(problems.length + cases.length).toBeGreaterThan(0);
      for (const { line, message } of problems) {
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(lines + 1);
        expect(message).not.toMatch(/undefined|\[object|TypeError|\n/);
      }
    }),
    { numRuns: 500 },
  );
});
