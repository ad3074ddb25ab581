// Pull requests for people and pages: a few JSON routes beside git's own.
import type { Context, Hono } from "hono";
import { z } from "zod";
import { ApiProblem, type Env, readJson } from "../http/index.ts";
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

type Answer = (context: Context<Env>, visit: Visit) => Promise<Response>;

export function servePullRequests(app: Hono<Env>, { host, door }: { host: GitHost; door: Door }): void {
  // A person who follows the link has a page to read.
  app.get("/git/:name/pulls/:number", async (context, next) => {
    const isPerson = /text\/html/.test(context.req.header("accept") ?? "") && !context.req.header("authorization");
    return isPerson ? context.redirect(context.req.path.replace(/^\/git\//, "/repositories/"), 303) : next();
  });
  const serve = (method: "GET" | "POST" | "PATCH", below: string, answer: Answer): void => {
    const path = `/git/:name/pulls${below}`;
    const scope: Scope = method === "GET" ? "repositories:read" : "repositories:write";
    app.on(method, path, async (context) => {
      context.set("route", path);
      const entered = await door.forPeople(context, { name: context.req.param("name") ?? "", scope });
      return answer(context, { ...entered, number: readNumber(context.req.param("number")) });
    });
  };
  addPulls(serve, host);
  addRemarks(serve, host);
}

type Serve = (method: "GET" | "POST" | "PATCH", below: string, answer: Answer) => void;

function addPulls(serve: Serve, host: GitHost): void {
  const shown = ({ repository }: Visit, pull: PullRequestRecord) => {
    const { isDraft, ...rest } = pull;
    return { ...rest, draft: isDraft, url: host.pullRequestUrl(repository.name, pull.number) };
  };
  serve("GET", "", async (context, visit) => {
    const pulls = await host.pullRequests(visit.repository).list();
    return context.json({ items: pulls.map((pull) => shown(visit, pull)) });
  });
  serve("POST", "", async (context, visit) => {
    const { draft, base = visit.repository.defaultBranch, ...rest } = await readBody(context, NewPull);
    const author = principalName(visit.principal);
    const pull = await host.pullRequests(visit.repository).open({ ...rest, base, isDraft: draft, author });
    return context.json(shown(visit, pull), 201);
  });
  serve("GET", "/:number", async (context, visit) =>
    context.json(shown(visit, await host.pullRequests(visit.repository).read(visit.number))),
  );
  serve("PATCH", "/:number", async (context, visit) => {
    const store = host.pullRequests(visit.repository);
    const { draft, ...change } = await readBody(context, Change);
    const { state } = await store.read(visit.number);
    if (state === "merged" && change.state !== undefined)
      throw new ApiProblem("pull_request_conflict", `Pull request ${visit.number} is merged already.`);
    const changed = await store.change(visit.number, { ...change, ...(draft !== undefined && { isDraft: draft }) });
    return context.json(shown(visit, changed));
  });
  serve("GET", "/:number/diff", async (context, { repository, number }) => {
    const pull = await host.pullRequests(repository).read(number);
    return context.text(await readDiff(repository, { pull }));
  });
  serve("POST", "/:number/merge", async (context, visit) => context.json(shown(visit, await mergeAs(host, visit))));
}

function addRemarks(serve: Serve, host: GitHost): void {
  serve("GET", "/:number/comments", async (context, { repository, number }) => {
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.remarks(repository).comments(number) });
  });
  serve("POST", "/:number/comments", async (context, { repository, number, principal }) => {
    await host.pullRequests(repository).read(number);
    const comment = await readBody(context, NewComment);
    await host.remarks(repository).comment(number, { ...comment, author: principalName(principal) });
    return context.json({ number }, 201);
  });
  serve("GET", "/:number/reviews", async (context, { repository, number }) => {
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.remarks(repository).reviews(number) });
  });
  serve("POST", "/:number/reviews", async (context, { repository, number, principal }) => {
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
  const { json } = await readJson(context.env.incoming, mostBodyBytes);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiProblem("validation_error", `${issue?.path.join(".") || "The body"}: ${issue?.message}.`);
}
