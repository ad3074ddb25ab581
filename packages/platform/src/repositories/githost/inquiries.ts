// What events of hosted repositories do not say by themselves, read from their git directories.
import { GitFailed, runGit } from "../git/index.ts";
import { type CommitRange, countAuthors, type Inquiries } from "../scm/index.ts";
import { readDiff } from "./changes.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import type { PullRequestStore } from "./pull-requests.ts";

export const maxChangedPaths = 3_000;

export const inquiriesOf = (repository: HostedRepository, store: PullRequestStore): Inquiries => ({
  async changedPaths(change) {
    const text = await ("pullRequest" in change
      ? readDiff(repository, { pull: await store.read(change.pullRequest), flags: nameFlags })
      : diffRange(repository, change));
    const paths = text.split("\0").filter(Boolean);
    return paths.length > maxChangedPaths ? null : paths;
  },
  async pullRequest(number) {
    const { head, base } = await store.read(number);
    return { head, base, isFork: false };
  },
  // Members of the team alone reach it.
  permission: async () => "push",
  recentAuthors: ({ branch, paths }) => countAuthors(paths, (path) => authorsOf(repository, { branch, path })),
  failedLog: async () => null,
});

const maxCommits = 20;

async function authorsOf({ directory }: HostedRepository, { branch, path }: { branch: string; path: string }) {
  const args = ["log", `--max-count=${maxCommits}`, "--format=%an", `refs/heads/${branch}`, "--", `:(literal)${path}`];
  return (await runGit({ location: { directory }, args })).split("\n").filter(Boolean);
}

const nameFlags = ["--name-only", "-z", "--no-renames"];

/** A branch or commit that is gone by now has changed nothing that can be named. */
async function diffRange({ directory }: HostedRepository, { before, after }: CommitRange): Promise<string> {
  const args = ["diff", "--no-ext-diff", "--no-textconv", ...nameFlags, "--end-of-options", before, after, "--"];
  return runGit({ location: { directory }, args }).catch((error: unknown) => {
    if (error instanceof GitFailed) return "";
    throw error;
  });
}
