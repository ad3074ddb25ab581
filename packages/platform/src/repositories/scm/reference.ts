// Validates names of branches, tags and commits, and URLs of pull requests, given by callers. Pure.
import { type RepositoryUrl, readRepositoryUrl, shownUrl } from "./repository-url.ts";

/** What git allows, except names that could be read as an option or a revision expression. */
export const isReference = (text: string): boolean =>
  text !== "" &&
  Buffer.byteLength(text) <= 240 &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|^@$/.test(text) &&
  text.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock") && !part.startsWith("-"));

/** Full or abbreviated. */
export const isCommitName = (text: string): boolean => /^[0-9a-f]{7,64}$/.test(text);

const pullRequestUrl =
  /^(.+?)(?:\/-)?\/(?:pull|pulls|merge_requests|pull-requests)\/([1-9]\d{0,8})(?:\/(?:files|commits|diffs|overview))?\/?$/;

/** The repository URL within the URL of a pull request; undefined if the text is not a pull request URL. */
export const repositoryOfPullRequest = (prUrl: string): string | undefined => pullRequestUrl.exec(prUrl)?.[1];

/** The number of a pull request of this repository, in any host's URL format; undefined for anything else. */
export function readPullRequestUrl(text: string, repository: RepositoryUrl): number | undefined {
  const [, repositoryUrl, number] = pullRequestUrl.exec(text) ?? [];
  const read = repositoryUrl === undefined ? undefined : readRepositoryUrl(repositoryUrl);
  if (read?.kind !== "url" || !/^https?$/.test(read.url.scheme)) return undefined;
  return isSameRepository(read.url, repository) ? Number(number) : undefined;
}

/** Pull request URLs use http(s) even if git accesses the repository through ssh. */
function isSameRepository(web: RepositoryUrl, repository: RepositoryUrl): boolean {
  const withoutPort = (url: RepositoryUrl) =>
    shownUrl(url)
      .replace(/^([^/]*?):\d+\//, "$1/")
      .toLowerCase();
  if (repository.scheme === "ssh" || repository.scheme === "git") return withoutPort(web) === withoutPort(repository);
  return shownUrl(web).toLowerCase() === shownUrl(repository).toLowerCase();
}
