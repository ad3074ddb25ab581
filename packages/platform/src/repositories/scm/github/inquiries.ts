// Questions to GitHub about what a webhook names: changed paths, forks, permissions of accounts, logs of failed checks.
import { RepositoryFault } from "../../git/index.ts";
import { countAuthors } from "../count-authors.ts";
import type { CommitRange, Inquiries } from "../source-host.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import { readFailedLog } from "./failed-log.ts";
import type { GithubRepository } from "./repository.ts";
import { type RepositoryRequest, requestAsPlatform } from "./requests.ts";

export function githubInquiries(github: GithubRepository): Inquiries {
  const { owner, repo } = github.repository;
  const ask = async <T>(what: string, signal: AbortSignal, work: (request: RepositoryRequest) => Promise<T>) => {
    try {
      return await work(requestAsPlatform(github, signal));
    } catch (error) {
      throw githubFault(error, { what: `${what} in ${owner}/${repo}`, code: "repository_unreachable" });
    }
  };
  return {
    changedPaths: (change, signal) =>
      ask("read which paths were changed", signal, (request) =>
        "pullRequest" in change ? pathsOfPull(request, change.pullRequest) : pathsOfRange(request, change),
      ),
    pullRequest: (number, signal) =>
      ask(`read pull request ${number}`, signal, async (request) => {
        const pull = await orUndefined(
          request("GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number }),
        );
        // The repository of a fork may be deleted by now.
        const isFork = pull?.head.repo?.id !== pull?.base.repo.id;
        return pull && { head: pull.head.ref, base: pull.base.ref, isFork };
      }),
    permission: (username, signal) =>
      ask(`read what ${username} may do`, signal, async (request) => {
        const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission" as const;
        const { permission } = (await orUndefined(request(route, { username }))) ?? { permission: "none" };
        if (permission === "admin" || permission === "write") return "push";
        return permission === "read" ? "read" : "none";
      }),
    recentAuthors: ({ branch, paths }, signal) =>
      ask("read who changed files", signal, (request) =>
        countAuthors(paths, async (path) => {
          const commits = await request("GET /repos/{owner}/{repo}/commits", { sha: branch, path, per_page: 20 });
          return commits.flatMap(({ author }) => (author && "login" in author ? [author.login] : []));
        }),
      ),
    failedLog: (failed, signal) =>
      ask("read the log of a failed check", signal, (request) => readFailedLog({ github, request }, failed, signal)),
  };
}

const orUndefined = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (error instanceof GithubRefusal && error.status === 404) return undefined;
    throw error;
  });

interface ChangedFile {
  filename: string;
  previous_filename?: string;
}

const namesOf = (files: ChangedFile[]): string[] =>
  files.flatMap(({ filename, previous_filename }) => [filename, ...(previous_filename ? [previous_filename] : [])]);

const pageSize = 100;
/** GitHub lists 3,000 files of a pull request at most. */
const maxPages = 30;

async function pathsOfPull(request: RepositoryRequest, number: number): Promise<string[] | null> {
  const paths: string[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const query = { pull_number: number, per_page: pageSize, page };
    const files = await request("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", query);
    paths.push(...namesOf(files));
    if (files.length < pageSize) return paths;
  }
  return null;
}

/** GitHub lists 300 files of a comparison at most. */
const maxCompared = 300;

async function pathsOfRange(request: RepositoryRequest, { before, after }: CommitRange): Promise<string[] | null> {
  const route = "GET /repos/{owner}/{repo}/compare/{basehead}" as const;
  const { files } = await request(route, { basehead: `${before}...${after}` });
  if (files === undefined)
    throw new RepositoryFault("repository_unreachable", "GitHub did not say which files were changed.");
  return files.length >= maxCompared ? null : namesOf(files);
}
