// How identity names a repository: `host/path`. Pure.

/** Without scheme, user, `.git` and upper case in the name of the host. */
export function shownRepository(url: string): string {
  const [, host = "", path = ""] = /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/]*)\/?(.*?)(?:\.git)?\/*$/.exec(url) ?? [];
  return `${host.toLowerCase()}/${path}`;
}
