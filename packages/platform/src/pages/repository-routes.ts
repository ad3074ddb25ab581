// Routes of the pages of repositories.
import type { Context } from "hono";
import { ApiError, type Env, fileResponse } from "../foundation/index.ts";
import { type GitHost, type HostedRepository, mergeAs, readDiff } from "../repositories/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { answerPage } from "./layout.ts";
import { pullPage, pullsPage } from "./repository-pages.ts";
import type { Visitor } from "./session.ts";

export function addRepositoryPages(pages: Pages, { api, repositories: { githost } }: PageHost): void {
  addLists(pages, githost);
  addPullRequest(
    {
      get: (path, show) =>
        pages.get(path, (context, visitor) => {
          api.admission.admitGitProcess(context, visitor.principal.teamId);
          return show(context, visitor);
        }),
      form: (path, act) =>
        pages.form(path, (context, visitor, fields) => {
          api.admission.admitGitProcess(context, visitor.principal.teamId);
          return act(context, visitor, fields);
        }),
    },
    githost,
  );
}

async function find(githost: GitHost, context: Context<Env>, { principal }: Visitor): Promise<HostedRepository> {
  const name = context.req.param("name") ?? "";
  const repository = await githost.repositories.find(principal.teamId, name);
  if (!repository) throw new ApiError("repository_not_found", `There is no repository ${name.slice(0, 100)}.`);
  return repository;
}

function addLists(pages: Pages, githost: GitHost): void {
  pages.get("/repositories/:name", async (context, visitor) => {
    const repository = await find(githost, context, visitor);
    const body = pullsPage(repository.name, await githost.pullRequests(repository).list());
    return answerPage(context, { title: repository.name, visitor, body });
  });
}

function addPullRequest(pages: Pages, githost: GitHost): void {
  pages.get("/repositories/:name/pulls/:number", async (context, visitor) => {
    const repository = await find(githost, context, visitor);
    const number = numberIn(context);
    const pull = await githost.pullRequests(repository).read(number);
    const review = githost.commentStore(repository);
    const body = pullPage({
      name: repository.name,
      pull,
      diff: await readDiff(repository, { pull }),
      comments: await review.comments(number),
      reviews: await review.reviews(number),
      token: visitor.formToken,
    });
    return answerPage(context, { title: pull.title, visitor, body });
  });

  pages.get("/repositories/:name/pulls/:number/diff", async (context, visitor) => {
    const repository = await find(githost, context, visitor);
    const pull = await githost.pullRequests(repository).read(numberIn(context));
    return fileResponse(Buffer.from(await readDiff(repository, { pull })), `${repository.name}-${pull.number}.patch`);
  });

  pages.form("/repositories/:name/pulls/:number/comments", async (context, visitor, { body = "" }) => {
    const repository = await find(githost, context, visitor);
    const number = numberIn(context);
    if (body.trim() === "") throw new ApiError("validation_error", "The comment is empty.");
    const pull = await githost.pullRequests(repository).read(number);
    await githost.commentStore(repository).comment(pull, { author: authorOf(visitor), body });
    return context.redirect(`/repositories/${repository.name}/pulls/${number}`, 303);
  });

  pages.form("/repositories/:name/pulls/:number/merge", async (context, visitor) => {
    const repository = await find(githost, context, visitor);
    const number = numberIn(context);
    await mergeAs(githost, { repository, number, principal: visitor.principal });
    return context.redirect(`/repositories/${repository.name}/pulls/${number}`, 303);
  });

  pages.form("/repositories/:name/pulls/:number/ready", async (context, visitor) => {
    const repository = await find(githost, context, visitor);
    const number = numberIn(context);
    await githost.pullRequests(repository).change(number, { isDraft: false }, authorOf(visitor));
    return context.redirect(`/repositories/${repository.name}/pulls/${number}`, 303);
  });
}

function numberIn(context: Context<Env>): number {
  const text = context.req.param("number") ?? "";
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ApiError("not_found", "There is no such pull request.");
  return Number(text);
}

const authorOf = ({ principal }: Visitor): string => principal.email;
