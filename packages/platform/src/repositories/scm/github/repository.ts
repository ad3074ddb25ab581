// One repository on GitHub, with everything needed to send requests about it.
import type { RepositoryName } from "./address.ts";
import type { GithubApi } from "./api.ts";
import type { GithubCredentials } from "./credentials.ts";

export interface GithubRepository {
  repository: RepositoryName;
  web: URL;
  api: GithubApi;
  credentials: GithubCredentials;
}
