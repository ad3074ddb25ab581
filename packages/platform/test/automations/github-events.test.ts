// Webhooks of GitHub: every published example is read, each trigger fires for its own event and for no neighbour.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { GithubEvent } from "@agentcli/protocol/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readGithubEvent, type SourceEvent } from "../../src/automations/inbound/github.ts";
import { type GithubTrigger, matchEvent } from "../../src/automations/inbound/match.ts";

interface Example {
  name: string;
  payload: { action?: string; state?: string; repository?: { html_url: string } };
}

const published: Example[] = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("@octokit/webhooks-examples/api.github.com/index.json"), "utf8"),
).flatMap(({ name, examples }: { name: string; examples: Example["payload"][] }) =>
  examples.map((payload) => ({ name, payload })),
);

/** A status counts for each branch. */
const eventsIn = ({ name, payload }: Example) => [...new Set(readGithubEvent(name, payload).map(({ event }) => event))];

/** As the host documents them; all other deliveries start nothing. */
const expected: Record<string, SourceEvent["event"]> = {
  "pull_request.opened": "pull_request.opened",
  "pull_request.ready_for_review": "pull_request.opened",
  "pull_request.reopened": "pull_request.opened",
  "pull_request.synchronize": "pull_request.pushed",
  "pull_request.closed": "pull_request.closed",
  "pull_request.labeled": "pull_request.label_changed",
  "pull_request.unlabeled": "pull_request.label_changed",
  "issues.labeled": "issue.label_changed",
  "issues.unlabeled": "issue.label_changed",
  "issue_comment.created": "issue.comment",
  "pull_request_review_comment.created": "review_comment",
  "pull_request_review_thread.resolved": "review_thread.updated",
  "pull_request_review_thread.unresolved": "review_thread.updated",
  "check_suite.completed": "check.completed",
  "status.success": "check.completed",
  "workflow_run.completed": "workflow_run.completed",
  push: "push",
};

const keyOf = ({ name, payload: { action, state } }: Example): string =>
  name === "push" ? name : `${name}.${action ?? state}`;

test("each of the 329 published examples is the event that the host documents, or none", () => {
  expect(published).toHaveLength(329);
  const read = new Set<string>();
  for (const example of published) {
    const key = keyOf(example);
    const isDeletedBranch = key === "push" && (example.payload as { deleted?: boolean }).deleted === true;
    const isTag = key === "push" && !(example.payload as { ref: string }).ref.startsWith("refs/heads/");
    const event = isDeletedBranch || isTag ? undefined : expected[key];
    const unlabelled = event?.endsWith("label_changed") && (example.payload as { label?: object }).label === undefined;
    expect({ key, events: eventsIn(example) }).toEqual({ key, events: event && !unlabelled ? [event] : [] });
    if (event) read.add(event);
  }
  expect([...read].toSorted()).toEqual([...new Set(Object.values(expected))].toSorted());
});

test("the status of a commit counts for each branch that has it, and for none of a fork", () => {
  const status = (...names: string[]) =>
    readGithubEvent("status", {
      ...{ state: "failure", repository: { html_url: "https://github.com/acme/shop" } },
      branches: names.map((name) => ({ name })),
    });
  expect(status("main", "topic").map(({ branch, pullRequest }) => [branch, pullRequest])).toEqual([
    ["main", null],
    ["topic", null],
  ]);
  expect(status()).toMatchObject([{ branch: null, pullRequest: { isFork: true } }]);
  expect(status(...Array.from({ length: 50 }, (_, index) => `b${index}`))).toHaveLength(10);
});

const pull = (more: object = {}, head: object = { id: 1 }) => ({
  repository: { id: 1, html_url: "https://github.com/acme/shop" },
  pull_request: {
    number: 7,
    html_url: "https://github.com/acme/shop/pull/7",
    head: { ref: "topic", repo: head },
    base: { ref: "main", repo: { id: 1 } },
    ...more,
  },
});

/** One delivery for each trigger, with a neighbour that differs in one member. */
const rows: [GithubEvent, Example, Example][] = [
  [
    "pull_request.draft_opened",
    { name: "pull_request", payload: { action: "opened", ...pull({ draft: true }) } },
    { name: "pull_request", payload: { action: "edited", ...pull({ draft: true }) } },
  ],
  [
    "pull_request.opened",
    { name: "pull_request", payload: { action: "opened", ...pull({ draft: false }) } },
    { name: "pull_request", payload: { action: "opened", ...pull({ draft: true }) } },
  ],
  [
    "pull_request.pushed",
    { name: "pull_request", payload: { action: "synchronize", ...pull() } },
    { name: "pull_request", payload: { action: "assigned", ...pull() } },
  ],
  [
    "pull_request.merged",
    { name: "pull_request", payload: { action: "closed", ...pull({ merged: true }) } },
    { name: "pull_request", payload: { action: "closed", ...pull({ merged: false }) } },
  ],
  [
    "push",
    { name: "push", payload: { ...pull(), ...{ ref: "refs/heads/main" } } },
    { name: "push", payload: { ...pull(), ...{ ref: "refs/tags/v1" } } },
  ],
  [
    "pull_request.comment",
    { name: "issue_comment", payload: { action: "created", ...pull(), ...{ issue: { number: 7, pull_request: {} } } } },
    { name: "issue_comment", payload: { action: "edited", ...pull(), ...{ issue: { number: 7, pull_request: {} } } } },
  ],
  [
    "pull_request.label_changed",
    { name: "pull_request", payload: { action: "labeled", ...pull(), ...{ label: { name: "bug" } } } },
    { name: "pull_request", payload: { action: "milestoned", ...pull(), ...{ label: { name: "bug" } } } },
  ],
  [
    "issue.label_changed",
    { name: "issues", payload: { action: "unlabeled", ...pull(), ...{ label: { name: "bug" } } } },
    { name: "issues", payload: { action: "opened", ...pull(), ...{ label: { name: "bug" } } } },
  ],
  [
    "check.completed",
    { name: "status", payload: { state: "failure", ...pull(), ...{ branches: [{ name: "main" }] } } },
    { name: "status", payload: { state: "pending", ...pull(), ...{ branches: [{ name: "main" }] } } },
  ],
  [
    "issue.comment",
    { name: "issue_comment", payload: { action: "created", ...pull(), ...{ issue: { number: 7 } } } },
    { name: "issue_comment", payload: { action: "created", ...pull(), ...{ issue: { number: 7, pull_request: {} } } } },
  ],
  [
    "review_comment",
    { name: "pull_request_review_comment", payload: { action: "created", ...pull() } },
    { name: "pull_request_review_comment", payload: { action: "deleted", ...pull() } },
  ],
  [
    "review.submitted",
    { name: "pull_request_review", payload: { action: "submitted", ...pull(), ...{ review: { state: "approved" } } } },
    // Sent around every inline comment.
    { name: "pull_request_review", payload: { action: "submitted", ...pull(), ...{ review: { state: "commented" } } } },
  ],
  [
    "review_thread.updated",
    { name: "pull_request_review_thread", payload: { action: "resolved", ...pull() } },
    { name: "pull_request_review_thread", payload: { action: "created", ...pull() } },
  ],
  [
    "workflow_run.completed",
    { name: "workflow_run", payload: { action: "completed", ...pull(), ...{ workflow_run: { head_branch: "main" } } } },
    { name: "workflow_run", payload: { action: "requested", ...pull(), ...{ workflow_run: { head_branch: "main" } } } },
  ],
];

test("the table has a row for each trigger", () => {
  expect(rows.map(([event]) => event).toSorted()).toEqual([...GithubEvent.options].toSorted());
});

const repos = ["https://github.com/Acme/Shop.git"];

test.each(rows)("%s is read from its delivery and not from its neighbour", (event, own, neighbour) => {
  const trigger = { id: "trg-1", type: "github", event, repos } as const;
  const kinds = ({ name, payload }: Example) =>
    readGithubEvent(name, payload).map((one) => matchEvent(trigger, one).kind);
  expect(eventsIn(own)).toEqual([event]);
  // A comment does not say where the branch of its pull request is.
  expect(kinds(own)).toEqual([event === "pull_request.comment" ? "refused" : "start"]);
  expect(kinds(neighbour).filter((kind) => kind !== "other")).toEqual([]);
});

test.each([
  ["branches", { branches: ["main"] }, { branches: ["release/*"] }],
  ["a pattern", { branches: ["ma*"] }, { branches: ["a*"] }],
  ["the label", { label: "bug" }, { label: "bugs" }],
  ["what was done with the label", { labelAction: "added" }, { labelAction: "removed" }],
  ["a keyword", { keyword: "PLEASE" }, { keyword: "thanks" }],
  ["paths", { paths: ["src/**"] }, { paths: ["*.md"] }],
  ["a path that is not excluded", { paths: ["**", "!docs/**"] }, { paths: ["src/**", "!*.ts"] }],
  ["paths that are included again", { paths: ["**", "!src/**", "src/a.ts"] }, { paths: ["src/a.ts", "!src/**"] }],
  ["the repository", {}, { repos: ["https://github.com/acme/shop2"] }],
] as const)("a trigger filters by %s", (_, fits, others) => {
  const payload = {
    ...{ action: "labeled", label: { name: "bug" } },
    ...pull({ title: "Fix it", body: "please" }),
  };
  const [read] = readGithubEvent("pull_request", payload);
  if (read === undefined) throw new Error("nothing was read");
  const event = { ...read, paths: ["src/a.ts"] };
  const trigger: GithubTrigger = { id: "trg-1", type: "github", event: "pull_request.label_changed", repos };
  expect(matchEvent({ ...trigger, ...(fits as object) }, event).kind).toBe("start");
  expect(matchEvent({ ...trigger, ...(others as object) }, event).kind).toBe("other");
});

test.each([
  ["of another repository", { id: 2 }, "refused"],
  ["of a repository that was deleted", null, "refused"],
  ["of the repository itself", { id: 1 }, "start"],
])("a pull request %s: %s", (_, head, kind) => {
  const [event] = readGithubEvent("pull_request", { action: "opened", ...pull({}, head as object) });
  if (event === undefined) throw new Error("nothing was read");
  expect(matchEvent({ id: "trg-1", type: "github", event: "pull_request.opened", repos }, event).kind).toBe(kind);
});

test("a merged pull request of a fork starts, from the branch that it was merged into", () => {
  const [event] = readGithubEvent("pull_request", { action: "closed", ...pull({ merged: true }, { id: 2 }) });
  if (event === undefined) throw new Error("nothing was read");
  expect(event.branch).toBe("main");
  expect(matchEvent({ id: "trg-1", type: "github", event: "pull_request.merged", repos }, event).kind).toBe("start");
});

test.each<[string, object, SourceEvent["paths"]]>([
  ["one commit", { commits: [{ added: ["a"], modified: ["b", "c"], removed: ["d"] }] }, ["a", "b", "c", "d"]],
  ["several commits", { commits: [1, 2].map(() => ({ added: ["a"], modified: [], removed: [] })) }, ["a"]],
  ["no commits", {}, null],
  ["commits without files", { commits: [{ id: "1" }] }, null],
  [
    "as many commits as a server names at most",
    { commits: Array(20).fill({ added: [], modified: [], removed: [] }) },
    null,
  ],
  [
    "a new default branch",
    { before: "0".repeat(40), repository: { html_url: "https://github.com/a/b", default_branch: "main" } },
    "too many",
  ],
  ["a forced push", { forced: true, commits: [{ added: ["a"], modified: [], removed: [] }] }, null],
])("the changed paths of a push with %s", (_, more, paths) => {
  const [event] = readGithubEvent("push", { ...pull(), ref: "refs/heads/main", ...more });
  expect(event?.paths).toEqual(paths);
});

test("a push names what it is compared with: what was there before, or the default branch for a new one", () => {
  const [before, after] = ["1".repeat(40), "2".repeat(40)];
  const repository = { html_url: "https://github.com/acme/shop", default_branch: "main" };
  const rangeOf = (more: object) => readGithubEvent("push", { ref: "refs/heads/topic", repository, ...more })[0]?.range;
  expect(rangeOf({ before, after })).toEqual({ before, after });
  expect(rangeOf({ before: "0".repeat(40), after })).toEqual({ before: "main", after });
  expect(rangeOf({ before: "0".repeat(40), after, ref: "refs/heads/main" })).toBeNull();
  expect(rangeOf({ before: "--output=x", after })).toBeNull();
});

test("no JSON makes the reader fail", () => {
  const names = [...new Set(published.map(({ name }) => name))];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.jsonValue(), fc.string(), (name, value, action) => {
      readGithubEvent(name, value);
      readGithubEvent(name, {
        ...{ repository: { html_url: "https://github.com/a/b" }, action },
        ...{ pull_request: value, issue: value, check_suite: value, workflow_run: value, label: value, sender: value },
      });
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("a pattern with many stars is compared at once, whatever the branch", () => {
  const [event] = readGithubEvent("push", {
    ref: "refs/heads/main",
    repository: { html_url: "https://github.com/acme/shop" },
  });
  if (event === undefined) return expect.fail("no event");
  const branch = `${"a".repeat(5_000)}b`;
  const trigger = (pattern: string): GithubTrigger => ({
    ...{ id: "1", type: "github", event: "push", repos: ["https://github.com/acme/shop"], branches: [pattern] },
  });
  expect(matchEvent(trigger(`${"a*".repeat(99)}c`), { ...event, branch })).toEqual({ kind: "other" });
  expect(matchEvent(trigger("a*".repeat(100)), { ...event, branch })).toEqual({ kind: "start" });
});

test.each<[string, string, boolean]>([
  ["main", "main", true],
  ["main", "main2", false],
  ["release/*", "release/1", true],
  ["release/*", "release", false],
  ["*", "", true],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["*-fix-*", "x-fix-y", true],
  ["a.c", "abc", false],
])("the pattern %s and the branch %s", (pattern, branch, isMatch) => {
  const [event] = readGithubEvent("push", {
    ref: "refs/heads/main",
    repository: { html_url: "https://github.com/acme/shop" },
  });
  if (event === undefined) return expect.fail("no event");
  const trigger = { id: "1", type: "github", event: "push", repos: ["https://github.com/acme/shop"] } as const;
  const kind = isMatch ? "start" : "other";
  const found = matchEvent({ ...trigger, repos: [...trigger.repos], branches: [pattern] }, { ...event, branch });
  expect(found).toEqual({ kind });
});
