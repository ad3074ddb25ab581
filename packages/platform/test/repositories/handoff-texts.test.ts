import fc from "fast-check";
import { expect, test } from "vitest";
import { commitText } from "../../src/repositories/git/index.ts";
import { commitMessage, pullRequestTitle } from "../../src/repositories/handoff/describe.ts";
import type { RunSummary } from "../../src/repositories/handoff/index.ts";
import {
  bodyDigest,
  type PullRequestDetails,
  pullRequestBody,
  updatedBody,
} from "../../src/repositories/handoff/pull-request-body.ts";
import { isReference } from "../../src/repositories/scm/index.ts";
import { branchName } from "../../src/repositories/workspaces/branch-name.ts";

const summary = (changes: Partial<RunSummary>): RunSummary => ({
  agentId: "bc-1",
  teamId: 1,
  name: "Fix it",
  results: [],
  commands: [],
  endedAt: new Date(0),
  autoCreatePR: true,
  opensAsApp: true,
  asksForReview: true,
  secrets: [],
  onBehalfOf: null,
  ...changes,
});

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

const details = (changes: Partial<PullRequestDetails>): PullRequestDetails => ({
  results: [],
  commands: [],
  commits: [],
  heldBack: [],
  ...changes,
});

test("a commit is named after the first sentence of the result that is not a heading", () => {
  const subjectOf = (result: string) => commitMessage(summary({ results: ["Old", result] })).split("\n")[0];
  const cases: [result: string, subject: string][] = [
    ["## **Summary**\n\nAdded the `health` route. It was missing.", "Added the health route."],
    ["**What I did**\n\n- [x] Fixed *rounding* in totals\n- Added a test", "Fixed rounding in totals"],
    ["Summary:\nThe parser accepts v1.2 files, e.g. old ones. More.", "The parser accepts v1.2 files, e.g. old ones."],
    ["Summary\n=======\n\n```sh\nnpm test\n```\n\nAll tests pass now!", "All tests pass now!"],
    ["# Done\n\n> Moved [the page](http://x.example/a) to\n> docs", "Moved the page to"],
    ["Made the shop\nbetter", "Made the shop better"],
    ["# Only a heading", "Fix it"],
    ["", "Fix it"],
  ];
  for (const [result, subject] of cases) expect(subjectOf(result), result).toBe(subject);
  expect(commitMessage(summary({ results: ["Added it. It was missing.\n\nMore."] }))).toBe(
    "Added it.\n\nIt was missing.\n\nMore.\n",
  );
  expect(commitMessage(summary({ results: ["## Summary\n\nAdded it."] }))).toBe(
    "Added it.\n\n## Summary\n\nAdded it.\n",
  );
  expect(commitMessage(summary({ name: "\u0000" }))).toBe("Work of an agent\n");
});

test("a pull request is named after the agent's own commit, or the first sentence of the result", () => {
  const one = summary({ results: ["# Report\n\nRounded the totals. Done."] });
  expect(pullRequestTitle(one, ["wip", "Fix rounding of totals", "Rounded the totals."])).toBe(
    "Fix rounding of totals",
  );
  expect(pullRequestTitle(one, ["Rounded the totals."])).toBe("Rounded the totals.");
  expect(pullRequestTitle(one, [])).toBe("Rounded the totals.");
  const long = `${"word ".repeat(30).trim()}.`;
  const [subject = ""] = commitMessage(summary({ results: [long] })).split("\n");
  expect(pullRequestTitle(summary({ results: [long] }), [subject])).toBe(long);
});

test("a long first line is cut at a word and repeated in full below", () => {
  const long = `${"word ".repeat(30).trim()}.`;
  const [subject = "", , body] = commitMessage(summary({ results: [long] })).split("\n");
  expect(subject).toMatch(/^(?:word )+word…$/);
  expect(subject.length).toBeLessThanOrEqual(72);
  expect(body).toBe(long);
});

test("hostile results of a megabyte still give a subject, with nothing of the text lost", () => {
  for (const piece of [".", "[", "a. ", "[a](", "**", "- ", "> ", "!", "e.g. "]) {
    const result = `Done. ${piece.repeat(1_000_000 / piece.length)}end`;
    const [subject, , ...body] = commitMessage(summary({ results: [result] })).split("\n");
    expect(subject).toBe("Done.");
    expect(body.join("\n")).toBe(`${result.slice("Done. ".length)}\n`);
    const alone = commitMessage(summary({ results: [`${piece.repeat(1_000_000 / piece.length)}end`] }));
    expect(alone.split("\n")[0]?.length).toBeLessThanOrEqual(72);
  }
});

test("names of a million hostile characters are shortened to what git takes for a name", () => {
  const noise = " .".repeat(500_000);
  const person = { name: `${noise}Ada${noise}Lovelace${noise}`, email: `${noise}ada@example.com${noise}` };
  const parts = { tree: "t", parents: [], author: person, committer: person, at: new Date(0), message: "m" };
  const [, author = ""] = commitText(parts).split("\n");
  expect(author === `author Ada${noise}Lovelace <ada@example.com> 0 +0000`).toBe(true);
});

test("for any input, the message has one subject and no character that git refuses", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, text, (name, result, person) => {
      const message = commitMessage(summary({ name, results: [result], onBehalfOf: { name: person, email: person } }));
      const [subject = ""] = message.split("\n");
      expect(subject.trim()).not.toBe("");
      expect(subject.length).toBeLessThanOrEqual(72);
      expect(message).not.toMatch(/[\x00-\x08\x0b-\x1f]/);
      expect(message.split("\n").filter((line) => line.startsWith("Co-authored-by:")).length).toBeGreaterThan(0);
      expect(pullRequestTitle(summary({ name }), [result]).trim()).not.toBe("");
    }),
    runs,
  );
});

test("the body of a pull request has the results of the runs, what was verified, commits and files held back", () => {
  const body = pullRequestBody({
    results: ["One\r\n", "", "Two"],
    commands: [
      { command: "npm test", exitCode: 0 },
      { command: "echo `x` |\n  lint", exitCode: 2 },
      { command: "serve", exitCode: null },
    ],
    commits: [{ name: "0123456789abcdef", subject: "Fix rounding" }],
    heldBack: [
      { path: ".env", reason: "secret" },
      { path: "node_modules/", reason: "leftover" },
    ],
  });
  expect(body).toBe(`One

---

Two

## Verified

- \`npm test\`: passed
- \`\` echo \`x\` | lint \`\`: failed with exit code 2
- \`serve\`: did not end

## Commits

- 0123456789 Fix rounding

## Held back

These files are not part of this pull request:

- \`.env\`: looks like a secret
- \`node_modules/\`: looks like a leftover of a tool`);
});

test("the body of a pull request is replaced unless a person has edited it", () => {
  const long = Array.from({ length: 3 }, (_, index) => `${index} ${"words ".repeat(4_500)}`);
  const [before, now] = [details({ results: long.slice(0, 2) }), details({ results: long })];
  expect(pullRequestBody(now).length).toBeLessThan(65_000);
  const digest = bodyDigest(pullRequestBody(before));
  expect(updatedBody({ body: pullRequestBody(before), digest }, now)).toBe(pullRequestBody(now));
  expect(updatedBody({ body: `${pullRequestBody(before)}!`, digest }, now)).toBeUndefined();
  expect(updatedBody({ body: pullRequestBody(now), digest }, now)).toBeUndefined();
  // As written by versions that had only the results in it.
  expect(updatedBody({ body: "One", digest: null }, details({ results: ["One", "Two"] }))).toContain("Two");
});

test("every agent name gives a valid branch name", () => {
  const id = "bc-0a1b2c3d-0000-4000-8000-000000000000";
  expect(branchName("Fix the Überholspur!", id)).toBe("platform/fix-the-uberholspur-0a1b2c3d");
  expect(branchName("修复测试", id)).toBe("platform/work-0a1b2c3d");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const branch = branchName(name, id);
      expect(isReference(branch)).toBe(true);
      expect(branch.length).toBeLessThanOrEqual(60);
    }),
    runs,
  );
});
