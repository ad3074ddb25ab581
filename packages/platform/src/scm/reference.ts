// Names of branches, tags and commits, and addresses of pull requests, as a caller may give them. Pure.
import { type RepositoryUrl, readRepositoryUrl, shownUrl } from "./repository-url.ts";

/** What git itself allows, and nothing that could be taken for an option or an expression. */
export const isReference = (text: string): boolean =>
  text !== "" &&
  Buffer.byteLength(text) <= 240 &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|^@$/.test(text) &&
  text.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock") && !part.startsWith("-"));

/** Whole or abbreviated. */
export const isCommitName = (text: string): boolean => /^[0-9a-f]{7,64}$/.test(text);

const pullRequestAddress =
  /^(.+?)(?:\/-)?\/(?:pull|pulls|merge_requests|pull-requests)\/([1-9]\d{0,8})(?:\/(?:files|commits|diffs|overview))?\/?$/;

/** The address of the repository in that of one of its pull requests; undefined where the text is none. */
export const repositoryOfPullRequest = (prUrl: string): string | undefined => pullRequestAddress.exec(prUrl)?.[1];

/** The number of a pull request of this repository, however its host spells the address; else undefined. */
export function readPullRequestUrl(text: string, repository: RepositoryUrl): number | undefined {
  const [, ofRepository, number] = pullRequestAddress.exec(text) ?? [];
  const read = ofRepository === undefined ? undefined : readRepositoryUrl(ofRepository);
  if (read?.kind !== "url" || !/^https?$/.test(read.url.scheme)) return undefined;
  return sameRepository(read.url, repository) ? Number(number) : undefined;
}

/** Pull requests are read over the web also where git comes in through ssh. */
function sameRepository(web: RepositoryUrl, repository: RepositoryUrl): boolean {
  const bare = (url: RepositoryUrl) =>
    shownUrl(url)
      .replace(/^([^/]*?):\d+\//, "$1/")
      .toLowerCase();
  if (repository.scheme === "ssh" || repository.scheme === "git") return bare(web) === bare(repository);
  return shownUrl(web).toLowerCase() === shownUrl(repository).toLowerCase();
}
