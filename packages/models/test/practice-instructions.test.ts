// The forms of instructions, and any other text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readInstructions, readProcedure } from "../src/scripted/instructions.ts";

const stepsOf = (prompt: string) => readInstructions(prompt).map(({ step }) => step);

const runs = Number(process.env.FUZZ_RUNS ?? 200);

describe("one instruction", () => {
  test.each([
    ["create hello.txt containing Hello, world", { kind: "create", path: "hello.txt", text: "Hello, world" }],
    ['Create a file called "my notes.md" containing "x"', { kind: "create", path: "my notes.md", text: "x" }],
    ["Create x.txt containing don't do it", { kind: "create", path: "x.txt", text: "don't do it" }],
    ["create a.txt containing:\n```txt\none\n\ntwo\n```", { kind: "create", path: "a.txt", text: "one\n\ntwo" }],
    ["create a.txt containing:\none\n  two", { kind: "create", path: "a.txt", text: "one\n  two" }],
    [
      'create a.json containing {"a": "b and then c"}',
      { kind: "create", path: "a.json", text: '{"a": "b and then c"}' },
    ],
    ["append `bye` to src/a.txt", { kind: "append", path: "src/a.txt", text: "bye" }],
    ["append to log.txt: hello there", { kind: "append", path: "log.txt", text: "hello there" }],
    [
      "replace foo with bar in src/a.ts.",
      { kind: "replace", path: "src/a.ts", from: "foo", to: "bar", which: "every" },
    ],
    ["delete old.txt", { kind: "delete", path: "old.txt" }],
    ["please rename a.ts to b.ts", { kind: "move", path: "a.ts", to: "b.ts" }],
    ["move `a b.ts` to `c d.ts`", { kind: "move", path: "a b.ts", to: "c d.ts" }],
    ["run npm test.", { kind: "run", command: "npm test" }],
    ["run git add .", { kind: "run", command: "git add ." }],
    ["run `ls -la | wc -l` and see", { kind: "run", command: "ls -la | wc -l" }],
    ['run "my program" --flag', { kind: "run", command: '"my program" --flag' }],
    ["run the tests", { kind: "run", command: "npm test" }],
    ["show me README.md", { kind: "read", path: "README.md" }],
    ["Fix the failing test and make sure it passes.", { kind: "repair" }],
    ["Commit with a message naming the step.", { kind: "commit-step" }],
    ["use $release-notes for version 2", { kind: "skill", name: "release-notes", topic: "version 2" }],
    ["run $HOME/bin/tool", { kind: "run", command: "$HOME/bin/tool" }],
    ["Stop if the recommendation in `R.md` is NO-GO.", { kind: "stop-if", path: "R.md", text: "NO-GO" }],
    ["stop if v.txt says REJECTED", { kind: "stop-if", path: "v.txt", text: "REJECTED" }],
    ["Stop here if the verdict in docs/R.md is NO-GO", { kind: "stop-if", path: "docs/R.md", text: "NO-GO" }],
    ["If R.md says NO-GO, stop.", { kind: "stop-if", path: "R.md", text: "NO-GO" }],
    ["Stop if the reviewer is unhappy.", { kind: "stop-unclear" }],
    ["Continue only if R.md says GO", { kind: "stop-unclear" }],
    ["Unless the tests pass, stop", { kind: "stop-unclear" }],
    ["Implement the first unchecked step in `PLAN.md`.", { kind: "take-step", path: "PLAN.md" }],
  ])("%j is understood", (prompt, step) => {
    expect(stepsOf(prompt)).toEqual([step]);
  });

  test.each(["What is the weather?", "delete everything", "refactor the auth module", "make it faster"])(
    "%j is not",
    (prompt) => {
      expect(stepsOf(prompt)).toEqual([{ kind: "unclear" }]);
    },
  );
});

describe("several instructions", () => {
  test("are joined by then, and then, full stops and new lines", () => {
    const kinds = (prompt: string) => stepsOf(prompt).map((step) => step.kind);
    expect(kinds("create a.txt containing x then run ls and then delete a.txt")).toEqual(["create", "run", "delete"]);
    expect(kinds("1. Create a.txt containing x\n2) run ls\n- delete a.txt")).toEqual(["create", "run", "delete"]);
    expect(kinds("Delete a.txt. Then run ls. Run pwd.")).toEqual(["delete", "run", "run"]);
    expect(kinds("delete a.txt and run ls")).toEqual(["delete", "run"]);
  });

  test("a joining word inside quotes is text", () => {
    expect(stepsOf('create a.txt containing "one then two" then run `echo then`')).toEqual([
      { kind: "create", path: "a.txt", text: "one then two" },
      { kind: "run", command: "echo then" },
    ]);
  });

  test("a joining word inside a fence is text, also in a list", () => {
    expect(stepsOf("1. Create a.txt containing\n   ```\n   one\n   then run ls\n   ```\n2. run pwd")).toEqual([
      { kind: "create", path: "a.txt", text: "one\nthen run ls" },
      { kind: "run", command: "pwd" },
    ]);
  });

  test("text that looks like an instruction stays text", () => {
    expect(stepsOf("create a.txt containing salt and run away")).toHaveLength(1);
    expect(stepsOf("create a.txt containing Hello. Read me later")).toHaveLength(1);
  });
});

describe("the numbered lines of a skill", () => {
  test("keep their continuation lines and leave out the surrounding prose", () => {
    const skill =
      "---\nname: x\n---\n# Title\n\nProse.\n\n1. Run `a`\n   and wait.\n2) Write `B.md` with sections A, B.\n\nEnd.";
    expect(readProcedure(skill)).toEqual(["Run `a` and wait.", "Write `B.md` with sections A, B."]);
  });

  test("sections become headings, and the first of several choices is used and marked", () => {
    const [step] = stepsOf(
      "Write `R.md` with sections Existing code, Effort (hours, days) and Recommendation (GO or NO-GO).",
    );
    const text = step?.kind === "create" ? step.text : "";
    expect(text.match(/^#.*$/gm)).toEqual(["# R", "## Existing code", "## Effort", "## Recommendation"]);
    expect(text).toContain("GO: the first of the choices, taken by the practice model");
    expect(text).not.toContain("NO-GO");
  });
});

describe("any text at all", () => {
  const word = fc.constantFrom(
    ..."create append replace run read delete move then and to in with containing first the `- [ ]` ``` \" ' ` \n : . ; $x a.txt \uE000 \uE001 \uE0020\uE001 1. -".split(
      " ",
    ),
  );

  test("is read without throwing and without adding text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(word).map((words) => words.join(" ")),
        ),
        (prompt) => {
          const normal = prompt.replace(/\r\n?/g, "\n").replace(/\s+/g, "");
          for (const { text } of readInstructions(prompt)) expect(normal).toContain(text.replace(/\s+/g, ""));
          readProcedure(prompt);
        },
      ),
      { numRuns: runs },
    );
  });

  // Where every division of the repeated character is tried, one of these takes minutes and blocks the whole process.
  test.each([
    ["append", " ", 9_900],
    ["replace", "\t", 9_900],
    ["add the text", " ", 9_900],
    ["read", ".", 9_900],
    ["create a.txt with", " ", 400_000],
    ["", "“", 800_000],
    ["", '"\\', 800_000],
    ["", "~", 800_000],
  ])("%j and %j many times is read at once", (start, repeated, times) => {
    const [instruction] = readInstructions(`${start} ${repeated.repeat(times)} x`);
    expect(instruction?.text.endsWith("x")).toBe(true);
  });

  test("quoted text is unchanged", () => {
    const plain = fc.string().filter((text) => !/[`\r\n]/.test(text) && text.trim() !== "");
    fc.assert(
      fc.property(plain, (text) => {
        expect(stepsOf(`create a.txt containing \`${text}\` then run \`${text}\``)).toEqual([
          { kind: "create", path: "a.txt", text },
          { kind: "run", command: text },
        ]);
      }),
      { numRuns: runs },
    );
  });
});
