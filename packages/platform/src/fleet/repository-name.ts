// A repository as requests of workers name it.
import { shownRepository } from "../identity-tokens/index.ts";

export interface RepositoryName {
  repoOwner: string;
  repoName: string;
  repoUrl: string;
}

/** Null for an address without a path. */
export function repositoryNameOf(url: string): RepositoryName | null {
  const path = shownRepository(url).split("/").slice(1);
  const repoName = path.pop();
  return repoName === undefined ? null : { repoOwner: path.join("/"), repoName, repoUrl: url };
}
