// Names of the repositories that a token gives access to, as `owner/repo`.
import type { GithubApi } from "./api.ts";
import { readPages } from "./pages.ts";

export interface TokenAccess {
  api: GithubApi;
  token: string;
}

/** Those that agents can work on: others cannot be pushed to. */
export async function repositoriesOfUser({ api, token }: TokenAccess, signal: AbortSignal): Promise<string[]> {
  const all = await readPages((page) => api.request({ route: "GET /user/repos", parameters: page, token }, signal));
  return all.filter(({ permissions }) => permissions?.push).map(({ full_name }) => full_name);
}

export async function repositoriesOfInstallation({ api, token }: TokenAccess, signal: AbortSignal): Promise<string[]> {
  const route = "GET /installation/repositories" as const;
  const all = await readPages(
    async (page) => (await api.request({ route, parameters: page, token }, signal)).repositories,
  );
  return all.map(({ full_name }) => full_name);
}
