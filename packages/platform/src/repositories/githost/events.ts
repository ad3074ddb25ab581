// What happens on the embedded host, in the words of GitHub's webhooks: whatever reads those reads these as well.
import type { Queries } from "../../foundation/index.ts";
import type { HostedRepository } from "./hosted-repository.ts";

export interface HostEvent {
  teamId: number;
  /** As in the header X-GitHub-Event. */
  name: "pull_request" | "issue_comment" | "pull_request_review_comment" | "pull_request_review" | "push" | "status";
  payload: object;
}

/** In the transaction of the change, so that there is no change without its event and no event without its change. */
export type RecordEvent = (tx: Queries, event: HostEvent) => Promise<void>;

export interface PullRequestFacts {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
  author: string;
}

export interface DescribedBranches {
  /** Of all branches of the repository; null before the first push. */
  tips: Record<string, string> | null;
  labels: { name: string }[];
}

export interface EventRecorder {
  /** `more` holds members beside those that all events of the repository have. */
  record(tx: Queries, name: HostEvent["name"], event: { sender: string; more: object }): Promise<void>;
  /** The members `pull_request` of an event. */
  describe(tx: Queries, pull: PullRequestFacts): Promise<{ pull_request: object }>;
  /** The same where the caller has read what it depends on. */
  describeAt(pull: PullRequestFacts, known: DescribedBranches): { pull_request: object };
  /** The member `issue`, by which comments name their pull request. */
  issueOf(pull: PullRequestFacts): { issue: object };
}

export interface EventRecorderOptions {
  recordEvent: RecordEvent;
  repositoryUrl(name: string): string;
  pullRequestUrl(name: string, number: number): string;
}

export function openEventRecorder(repository: HostedRepository, options: EventRecorderOptions): EventRecorder {
  const { id, name, teamId, defaultBranch } = repository;
  const html_url = options.repositoryUrl(name);
  const described = {
    id,
    name,
    full_name: name,
    html_url,
    clone_url: `${html_url}.git`,
    default_branch: defaultBranch,
  };
  const shared = (pull: PullRequestFacts) => ({
    ...{ number: pull.number, title: pull.title, body: pull.body, user: { login: pull.author } },
    ...{ html_url: options.pullRequestUrl(name, pull.number), draft: pull.isDraft },
    state: pull.state === "open" ? "open" : "closed",
  });
  const describeAt: EventRecorder["describeAt"] = (pull, { tips, labels }) => {
    const branch = (ref: string) => ({ ref, sha: tips?.[ref] ?? null, repo: { id, html_url } });
    const branches = { head: branch(pull.head), base: branch(pull.base) };
    const merged = pull.state === "merged";
    const merge = { merged, merge_commit_sha: merged ? branches.base.sha : null };
    return { pull_request: { ...shared(pull), labels, ...merge, ...branches } };
  };
  return {
    record: (tx, event, { sender, more }) =>
      options.recordEvent(tx, {
        ...{ teamId, name: event },
        payload: { ...more, repository: described, sender: { login: sender, type: typeOf(sender) } },
      }),
    async describe(tx, pull) {
      const row = await tx.selectFrom("hosted_repositories").select("tips").where("id", "=", id).executeTakeFirst();
      const labels = await tx
        .selectFrom("pull_request_labels")
        .select("name")
        .where("repository_id", "=", id)
        .where("pull_request", "=", pull.number)
        .orderBy("name")
        .execute();
      return describeAt(pull, { tips: row?.tips ?? null, labels });
    },
    describeAt,
    issueOf: (pull) => ({ issue: { ...shared(pull), pull_request: { html_url: shared(pull).html_url } } }),
  };
}

/** Agents and the platform itself are not people. */
const typeOf = (sender: string): "Bot" | "User" => (/^(?:agent:|platform$)/.test(sender) ? "Bot" : "User");
