// A repository as requests of workers name it.

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

/** Without scheme, user, `.git` and upper case in the name of the host. */
export function shownRepository(url: string): string {
  const [, host = "", path = ""] = /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/]*)\/?(.*?)(?:\.git)?\/*$/.exec(url) ?? [];
  return `${host.toLowerCase()}/${path}`;
}
