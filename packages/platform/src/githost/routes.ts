// Pull requests for people and pages: a few JSON routes beside git's own.
import type { Context, Hono } from "hono";
import { z } from "zod";
import { ApiProblem, type Env } from "../http/index.ts";
import { type Principal, principalName, type Scope } from "../principals/index.ts";
import { readDiff } from "./changes.ts";
import type { Door } from "./door.ts";
import type { GitHost } from "./host.ts";
import { mergeAs } from "./merge.ts";
import type { PullRequestRecord } from "./pull-requests.ts";
import type { HostedRepository } from "./repositories.ts";

const text = z.string().max(65_536);
const branch = z.string().min(1).max(240);

const NewPull = z.strictObject({
  title: z.string().min(1).max(256),
  body: text.default(""),
  head: branch,
  base: branch.optional(),
  draft: z.boolean().default(false),
});
const Change = z.strictObject({
  title: z.string().min(1).max(256).optional(),
  body: text.optional(),
  draft: z.boolean().optional(),
  state: z.enum(["open", "closed"]).optional(),
});
const NewComment = z.union([
  z.strictObject({ body: text.min(1) }),
  z.strictObject({ body: text.min(1), path: z.string().min(1).max(4096), line: z.int().min(1) }),
]);
const NewReview = z.strictObject({
  verdict: z.enum(["approved", "changes_requested", "commented"]),
  body: text.default(""),
});

const mostBodyBytes = 512 * 1024;

export function servePullRequests(app: Hono<Env>, { host, door }: { host: GitHost; door: Door }): void {
  const enter = async (context: Context<Env>, scope: Scope): Promise<Visit> => {
    const { repository, principal } = await door.forPeople(context, { name: context.req.param("name") ?? "", scope });
    return { repository, principal, number: readNumber(context.req.param("number")) };
  };
  const shown = ({ repository }: Visit, pull: PullRequestRecord) => {
    const { isDraft, ...rest } = pull;
    return { ...rest, draft: isDraft, url: host.pullRequestUrl(repository.name, pull.number) };
  };
  const many = "/git/:name/pulls";
  const one = "/git/:name/pulls/:number";

  app.get(many, async (context) => {
    const visit = await enter(context, "repositories:read");
    const pulls = await host.pullRequests(visit.repository).list();
    return context.json({ items: pulls.map((pull) => shown(visit, pull)) });
  });
  app.post(many, async (context) => {
    const visit = await enter(context, "repositories:write");
    const { draft, base = visit.repository.defaultBranch, ...rest } = await readBody(context, NewPull);
    const author = principalName(visit.principal);
    const pull = await host.pullRequests(visit.repository).open({ ...rest, base, isDraft: draft, author });
    return context.json(shown(visit, pull), 201);
  });
  app.get(one, async (context) => {
    const visit = await enter(context, "repositories:read");
    return context.json(shown(visit, await host.pullRequests(visit.repository).read(visit.number)));
  });
  app.patch(one, async (context) => {
    const visit = await enter(context, "repositories:write");
    const store = host.pullRequests(visit.repository);
    const { draft, ...change } = await readBody(context, Change);
    const { state } = await store.read(visit.number);
    if (state === "merged" && change.state !== undefined)
      throw new ApiProblem("pull_request_conflict", `Pull request ${visit.number} is merged already.`);
    return context.json(
      shown(visit, await store.change(visit.number, { ...change, ...(draft !== undefined && { isDraft: draft }) })),
    );
  });
  app.get(`${one}/diff`, async (context) => {
    const { repository, number } = await enter(context, "repositories:read");
    const pull = await host.pullRequests(repository).read(number);
    return context.text(await readDiff(repository, { pull }));
  });
  app.post(`${one}/merge`, async (context) => {
    const visit = await enter(context, "repositories:write");
    return context.json(shown(visit, await mergeAs(host, visit)));
  });
  app.get(`${one}/comments`, async (context) => {
    const { repository, number } = await enter(context, "repositories:read");
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.remarks(repository).comments(number) });
  });
  app.post(`${one}/comments`, async (context) => {
    const { repository, number, principal } = await enter(context, "repositories:write");
    await host.pullRequests(repository).read(number);
    const comment = await readBody(context, NewComment);
    await host.remarks(repository).comment(number, { ...comment, author: principalName(principal) });
    return context.json({ number }, 201);
  });
  app.get(`${one}/reviews`, async (context) => {
    const { repository, number } = await enter(context, "repositories:read");
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.remarks(repository).reviews(number) });
  });
  app.post(`${one}/reviews`, async (context) => {
    const { repository, number, principal } = await enter(context, "repositories:write");
    await host.pullRequests(repository).read(number);
    const review = await readBody(context, NewReview);
    await host.remarks(repository).review(number, { ...review, author: principalName(principal) });
    return context.json({ number }, 201);
  });
}

interface Visit {
  repository: HostedRepository;
  principal: Principal;
  number: number;
}

/** 0, which no pull request has, where the address has none. */
const readNumber = (text: string | undefined): number => (/^[1-9]\d{0,8}$/.test(text ?? "") ? Number(text) : 0);

async function readBody<T>(context: Context<Env>, schema: z.ZodType<T>): Promise<T> {
  const length = Number(context.req.header("content-length") ?? mostBodyBytes + 1);
  if (!(length <= mostBodyBytes))
    throw new ApiProblem("payload_too_large", `The body must say its length, and be at most ${mostBodyBytes} bytes.`);
  const parsed = schema.safeParse(await context.req.json().catch(() => undefined));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiProblem("validation_error", `${issue?.path.join(".") || "The body"}: ${issue?.message}.`);
}
