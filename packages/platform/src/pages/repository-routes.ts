// The changes of a pull request as a file. Its page is one of the app.
import { ApiError, fileResponse } from "../foundation/index.ts";
import { readDiff } from "../repositories/index.ts";
import type { PageHost, Pages } from "./host.ts";

export function addRepositoryPages(pages: Pages, { api, repositories: { githost } }: PageHost): void {
  pages.get("/repositories/:name/pulls/:number/diff", async (context, { principal: { teamId } }) => {
    api.admission.admitGitProcess(context, teamId);
    const name = context.req.param("name") ?? "";
    const repository = await githost.repositories.find(teamId, name);
    if (!repository) throw new ApiError("repository_not_found", `There is no repository ${name.slice(0, 100)}.`);
    const pull = await githost.pullRequests(repository).read(numberOf(context.req.param("number")));
    return fileResponse(Buffer.from(await readDiff(repository, { pull })), `${repository.name}-${pull.number}.patch`);
  });
}

function numberOf(text = ""): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ApiError("not_found", "There is no such pull request.");
  return Number(text);
}
