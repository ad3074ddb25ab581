// Webhooks of GitHub as events that triggers match. Lenient: hosts of other versions leave members out. Pure.
import type { GithubEvent } from "@agentcli/protocol/api";
import type { CommitRange, FailedCheck, RepositoryPermission } from "../../repositories/index.ts";

/** What happened, with the facts that triggers filter by and rules look at. */
export interface SourceEvent {
  event: GithubEvent | "pull_request.closed";
  /** Of the delivery, such as `reopened`. */
  action: string;
  /** The repository it happened in, as people open it: https://github.com/acme/shop */
  repositoryUrl: string;
  /** The branch it is about: the base of a pull request, or the one that was pushed. */
  branch: string | null;
  /** `isFork` is null where the event does not say. */
  pullRequest: { number: number; url: string; headBranch: string | null; isFork: boolean | null } | null;
  label: { name: string; action: "added" | "removed" } | null;
  /** Of a check suite, a commit status or a workflow. */
  conclusion: string | null;
  /** Its name, and the commit that it ran on. A check suite has no name: it is all checks of an app. */
  check: string | null;
  /** The id of the app that published the check suite. */
  app: string | null;
  commit: string | null;
  /** Of who commented to the repository, as the host says: OWNER, MEMBER, …; null where it says nothing. */
  association: string | null;
  /** Texts of people, in which a `keyword` is looked for. */
  text: string;
  /** Who caused it. */
  sender: { login: string; id: string; isBot: boolean } | null;
  /** Of a push; null where it is not known what was there before. */
  range: CommitRange | null;
  /** What was changed; null where neither the event nor the host has said it. */
  paths: string[] | "too many" | null;
  /** By which the host finds the log of a check; null where it has none. */
  failed: FailedCheck | null;
  /** Of an issue that was commented on. */
  issue: number | null;
  /** What the sender may do, and the end of the log of a failed check, as the host has answered; null: it has not. */
  permission: RepositoryPermission | null;
  log: string | null;
  /** Why the host did not answer what it was asked. */
  failure: string | null;
}

type Members = Record<string, unknown>;

/** Empty for whatever starts nothing, such as a ping. Throws nothing for any JSON. */
export function readGithubEvent(name: string, payload: unknown): SourceEvent[] {
  const body = membersOf(payload);
  const read = readers[name];
  const repositoryUrl = textOf(membersOf(body.repository).html_url);
  if (read === undefined || repositoryUrl === "") return [];
  const shared = {
    repositoryUrl,
    sender: senderOf(body.sender),
    ...{ branch: null, pullRequest: null, label: null, conclusion: null, text: "" },
    ...{ check: null, app: null, commit: null, association: null },
    ...{ range: null, paths: null, failed: null, issue: null, action: textOf(body.action) },
    ...{ permission: null, log: null, failure: null },
  };
  return read(body, textOf(body.action)).map((event) => ({ ...shared, ...event }));
}

function senderOf(value: unknown): SourceEvent["sender"] {
  const { login, id, type } = membersOf(value);
  if (login === undefined) return null;
  return { login: textOf(login), id: typeof id === "number" ? String(id) : "", isBot: type === "Bot" };
}

/** The host sends ten at most. */
const maxBranches = 10;

type Read = (body: Members, action: string) => (Partial<SourceEvent> & Pick<SourceEvent, "event">)[];

const readers: Record<string, Read> = {
  pull_request: readPullRequest,
  issues(body, action) {
    const label = labelOf(body, action);
    return label ? [{ event: "issue.label_changed", label, text: titleAndBody(body.issue) }] : [];
  },
  push(body) {
    const [, branch] = /^refs\/heads\/(.+)$/.exec(textOf(body.ref)) ?? [];
    if (branch === undefined || body.deleted === true) return [];
    const text = textOf(membersOf(body.head_commit).message);
    return [{ event: "push", branch, text, range: rangeOf(body, branch), paths: pathsOf(body, branch) }];
  },
  issue_comment(body, action) {
    if (action !== "created") return [];
    const text = textOf(membersOf(body.comment).body);
    const association = textOf(membersOf(body.comment).author_association) || null;
    const issue = membersOf(body.issue);
    if (issue.pull_request === undefined)
      return [{ event: "issue.comment", text, association, issue: Number(issue.number) || null }];
    const url = textOf(issue.html_url);
    const pullRequest = { number: Number(issue.number), url, headBranch: null, isFork: null };
    return [{ event: "pull_request.comment", text, association, pullRequest }];
  },
  pull_request_review_comment: (body, action) =>
    action === "created"
      ? [{ event: "review_comment", ...pullOf(body), text: textOf(membersOf(body.comment).body) }]
      : [],
  pull_request_review(body, action) {
    const review = membersOf(body.review);
    const text = textOf(review.body);
    // The host sends an empty review around every inline comment.
    const isWrapper = review.state === "commented" && text === "";
    return action === "submitted" && !isWrapper ? [{ event: "review.submitted", ...pullOf(body), text }] : [];
  },
  pull_request_review_thread: (body, action) =>
    action === "resolved" || action === "unresolved" ? [{ event: "review_thread.updated", ...pullOf(body) }] : [],
  check_suite(body, action) {
    const suite = membersOf(body.check_suite);
    const { id } = membersOf(suite.app);
    const app = typeof id === "number" ? String(id) : null;
    const failed = typeof suite.id === "number" ? { checkSuite: suite.id } : null;
    if (action !== "completed") return [];
    return [{ event: "check.completed", ...checkedOf(suite, body), app, failed, text: "" }];
  },
  status(body) {
    if (body.state === "pending" || body.state === undefined) return [];
    const about = { check: textOf(body.context) || null, commit: textOf(body.sha) || null };
    const shared = { conclusion: textOf(body.state), text: textOf(body.description), ...about };
    const names = listOf(body.branches).flatMap((branch) => textOf(membersOf(branch).name) || []);
    if (names.length > 0)
      return names.slice(0, maxBranches).map((branch) => ({ event: "check.completed", branch, ...shared }));
    // On no branch of this repository: the commit is in a fork.
    const pullRequest = { number: 0, url: "", headBranch: null, isFork: true };
    return [{ event: "check.completed", branch: null, pullRequest, ...shared }];
  },
  workflow_run(body, action) {
    const run = membersOf(body.workflow_run);
    const failed = typeof run.id === "number" ? { workflowRun: run.id } : null;
    const named = { check: textOf(run.name), text: textOf(run.name), failed };
    return action === "completed" ? [{ event: "workflow_run.completed", ...checkedOf(run, body), ...named }] : [];
  },
};

function readPullRequest(body: Members, action: string): ReturnType<Read> {
  const pull = membersOf(body.pull_request);
  const shared = { ...pullOf(body), text: titleAndBody(pull) };
  const label = labelOf(body, action);
  if (label) return [{ event: "pull_request.label_changed", ...shared, label }];
  if (action === "opened")
    return [{ event: pull.draft === true ? "pull_request.draft_opened" : "pull_request.opened", ...shared }];
  if (action === "ready_for_review" || action === "reopened") return [{ event: "pull_request.opened", ...shared }];
  if (action === "synchronize") return [{ event: "pull_request.pushed", ...shared }];
  if (action === "closed")
    return [{ event: pull.merged === true ? "pull_request.merged" : "pull_request.closed", ...shared }];
  return [];
}

const commitName = /^[0-9a-f]{40,64}$/;

/** A new branch is compared with the default one. */
function rangeOf({ before, after, repository }: Members, branch: string): SourceEvent["range"] {
  const isNew = /^0*$/.test(textOf(before));
  const start = isNew ? textOf(membersOf(repository).default_branch) : textOf(before);
  if (!commitName.test(textOf(after)) || start === "" || start === branch) return null;
  return isNew || commitName.test(start) ? { before: start, after: textOf(after) } : null;
}

/** Older servers name 20 commits of a push at most; those of a forced one say nothing about what was removed. */
const maxCommits = 20;

function pathsOf({ commits, forced, before, repository }: Members, branch: string): SourceEvent["paths"] {
  // The first push of a repository has all its files.
  if (/^0+$/.test(textOf(before)) && membersOf(repository).default_branch === branch) return "too many";
  const found = listOf(commits).map(membersOf);
  if (forced === true || found.length === 0 || found.length >= maxCommits) return null;
  const lists = found.flatMap(({ added, modified, removed }) => [added, modified, removed]);
  if (!lists.every(Array.isArray)) return null;
  return [...new Set(lists.flatMap(listOf).map(textOf))].filter(Boolean);
}

function pullOf(body: Members): Pick<SourceEvent, "branch" | "pullRequest"> {
  const pull = membersOf(body.pull_request);
  const [head, base] = [membersOf(pull.head), membersOf(pull.base)];
  const [headRepository, baseRepository] = [membersOf(head.repo), membersOf(base.repo)];
  return {
    branch: textOf(base.ref) || null,
    pullRequest: {
      number: Number(pull.number),
      url: textOf(pull.html_url),
      headBranch: textOf(head.ref) || null,
      // A fork that was deleted has no repository any more.
      isFork: headRepository.id === undefined || headRepository.id !== baseRepository.id,
    },
  };
}

/** Of a check suite or a workflow: those of forks name another repository or no branch, and no pull request. */
function checkedOf(checked: Members, body: Members): Partial<SourceEvent> {
  const [pull] = listOf(checked.pull_requests);
  const headRepository = membersOf(checked.head_repository).id;
  const branch = textOf(checked.head_branch) || null;
  const isFork = branch === null || (headRepository !== undefined && headRepository !== membersOf(body.repository).id);
  const number = Number(membersOf(pull).number);
  const url = `${textOf(membersOf(body.repository).html_url)}/pull/${number}`;
  return {
    branch,
    conclusion: textOf(checked.conclusion) || null,
    commit: textOf(checked.head_sha) || null,
    pullRequest:
      pull !== undefined || isFork
        ? { number: pull === undefined ? 0 : number, url, headBranch: branch, isFork }
        : null,
  };
}

function labelOf(body: Members, action: string): SourceEvent["label"] {
  const name = textOf(membersOf(body.label).name);
  if (name === "") return null;
  if (action === "labeled") return { name, action: "added" };
  return action === "unlabeled" ? { name, action: "removed" } : null;
}

const titleAndBody = (value: unknown): string => {
  const { title, body } = membersOf(value);
  return [textOf(title), textOf(body)].filter(Boolean).join("\n\n");
};

const membersOf = (value: unknown): Members =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Members) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
