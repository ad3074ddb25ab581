import fc from "fast-check";
import { expect, test } from "vitest";
import {
  commitMessage,
  pullRequestBody,
  pullRequestTitle,
  updatedBody,
} from "../../src/repositories/handoff/describe.ts";
import type { RunSummary } from "../../src/repositories/handoff/index.ts";
import { isReference } from "../../src/repositories/scm/index.ts";
import { branchName } from "../../src/repositories/workspaces/branch-name.ts";

const summary = (changes: Partial<RunSummary>): RunSummary => ({
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
  expect(commitMessage(summary({ results: ["Old", "## **Added** the `health` route\n\nIt was missing."] }))).toBe(
    "Added the health route\n\nIt was missing.\n",
  );
  expect(commitMessage(summary({ results: [""] }))).toBe("Fix it\n");
  expect(commitMessage(summary({ name: "\u0000" }))).toBe("Work of an agent\n");
});

test("a long first line is cut at a word and repeated in full below", () => {
  const long = `${"word ".repeat(30).trim()}.`;
  const [subject = "", , body] = commitMessage(summary({ results: [long] })).split("\n");
  expect(subject).toMatch(/^(?:word )+word…$/);
  expect(subject.length).toBeLessThanOrEqual(72);
  expect(body).toBe(long);
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
      expect(pullRequestTitle(summary({ name })).trim()).not.toBe("");
    }),
    runs,
  );
});

test("the body of a pull request contains the results of the runs in order", () => {
  expect(pullRequestBody(["One\r\n", "", "Two"])).toBe("One\n\n---\n\nTwo");
  const long = Array.from({ length: 3 }, (_, index) => `${index} ${"words ".repeat(9_000)}`);
  expect(pullRequestBody(long).length).toBeLessThan(65_000);
  expect(updatedBody(pullRequestBody(long.slice(0, 2)), long)).toBe(pullRequestBody(long));
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
