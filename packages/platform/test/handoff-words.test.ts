import fc from "fast-check";
import { expect, test } from "vitest";
import { commitMessage, grownBody, pullRequestBody, pullRequestTitle } from "../src/handoff/describe.ts";
import type { RunStory } from "../src/handoff/index.ts";
import { isReference } from "../src/scm/index.ts";
import { branchName } from "../src/workspaces/branch-name.ts";

const story = (changes: Partial<RunStory>): RunStory => ({
  agentId: "bc-1",
  teamId: 1,
  name: "Fix it",
  results: [],
  endedAt: new Date(0),
  autoCreatePR: true,
  opensAsApp: true,
  asksForReview: true,
  onBehalfOf: null,
  ...changes,
});

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

test("a commit is named after the first line of the result", () => {
  expect(commitMessage(story({ results: ["Old", "## **Added** the `health` route\n\nIt was missing."] }))).toBe(
    "Added the health route\n\nIt was missing.\n",
  );
  expect(commitMessage(story({ results: [""] }))).toBe("Fix it\n");
  expect(commitMessage(story({ name: "\u0000" }))).toBe("Work of an agent\n");
});

test("a long first line is cut at a word and said in full below", () => {
  const long = `${"word ".repeat(30).trim()}.`;
  const [subject = "", , body] = commitMessage(story({ results: [long] })).split("\n");
  expect(subject).toMatch(/^(?:word )+word…$/);
  expect(subject.length).toBeLessThanOrEqual(72);
  expect(body).toBe(long);
});

test("whatever people and models say, the message has one subject and no character git refuses", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, text, (name, result, person) => {
      const message = commitMessage(story({ name, results: [result], onBehalfOf: { name: person, email: person } }));
      const [subject = ""] = message.split("\n");
      expect(subject.trim()).not.toBe("");
      expect(subject.length).toBeLessThanOrEqual(72);
      expect(message).not.toMatch(/[\x00-\x08\x0b-\x1f]/);
      expect(message.split("\n").filter((line) => line.startsWith("Co-authored-by:")).length).toBeGreaterThan(0);
      expect(pullRequestTitle(story({ name })).trim()).not.toBe("");
    }),
    runs,
  );
});

test("the text of a pull request is what the runs said, in order", () => {
  expect(pullRequestBody(["One\r\n", "", "Two"])).toBe("One\n\n---\n\nTwo");
  const long = Array.from({ length: 3 }, (_, index) => `${index} ${"words ".repeat(9_000)}`);
  expect(pullRequestBody(long).length).toBeLessThan(65_000);
  expect(grownBody(pullRequestBody(long.slice(0, 2)), long)).toBe(pullRequestBody(long));
});

test("a branch can be named after whatever an agent is called", () => {
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
