// JSON routes for pull requests, next to the routes of the git protocol.
import type { Context, Hono } from "hono";
import type { z } from "zod";
import { ApiError, type Env, readJson } from "../../foundation/index.ts";
import { type Principal, principalName, type Scope } from "../../identity/index.ts";
import type { Access, RepositoryAuthenticator } from "./authenticator.ts";
import { readDiff } from "./changes.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { mergeAs } from "./merge.ts";
import type { PullRequestRecord } from "./pull-requests.ts";

const maxBodyBytes = 512 * 1024;

type Handler = (context: Context<Env>, request: RequestContext) => Promise<Response>;

export function servePullRequests(
  app: Hono<Env>,
  { host, authenticator }: { host: GitHost; authenticator: RepositoryAuthenticator },
): void {
  // A browser that follows the link is redirected to the page.
  app.get("/git/:name/pulls/:number", async (context, next) => {
    const isBrowser = /text\/html/.test(context.req.header("accept") ?? "") && !context.req.header("authorization");
    return isBrowser ? context.redirect(context.req.path.replace(/^\/git\//, "/repositories/"), 303) : next();
  });
  const serve: Serve = (method, below, handle) => {
    const path = `/git/:name${below}`;
    const scope: Scope = method === "GET" ? "repositories:read" : "repositories:write";
    app.on(method, path, async (context) => {
      context.set("route", path);
      const access = await authenticator(context, { name: context.req.param("name") ?? "", scope });
      const read = () => readConfirmed(context, access);
      return handle(context, { ...access, read, number: readNumber(context.req.param("number")) });
    });
  };
  addPulls(serve, host);
  addComments(serve, host);
  addLabels(serve, host);
  addStatuses(serve, host);
}

type Serve = (method: "GET" | "POST" | "PATCH" | "DELETE", below: string, handle: Handler) => void;

function addPulls(serve: Serve, host: GitHost): void {
  const toJson = async ({ repository }: RequestContext, pull: PullRequestRecord) => {
    const { isDraft, ...rest } = pull;
    const labels = await host.marks(repository).labels.list(pull.number);
    return { ...rest, labels, draft: isDraft, url: host.pullRequestUrl(repository.name, pull.number) };
  };
  serve("GET", "/pulls", async (context, request) => {
    const pulls = await host.pullRequests(request.repository).list();
    return context.json({ items: await Promise.all(pulls.map((pull) => toJson(request, pull))) });
  });
  serve("POST", "/pulls", async (context, request) => {
    const { draft, base = request.repository.defaultBranch, ...rest } = await readBody(request, "NewPull");
    const author = principalName(request.principal);
    const pull = await host.pullRequests(request.repository).open({ ...rest, base, isDraft: draft, author });
    return context.json(await toJson(request, pull), 201);
  });
  serve("GET", "/pulls/:number", async (context, request) =>
    context.json(await toJson(request, await host.pullRequests(request.repository).read(request.number))),
  );
  serve("PATCH", "/pulls/:number", async (context, request) => {
    const store = host.pullRequests(request.repository);
    const { draft, ...change } = await readBody(request, "Change");
    const fields = { ...change, ...(draft !== undefined && { isDraft: draft }) };
    const changed = await store.change(request.number, fields, principalName(request.principal));
    return context.json(await toJson(request, changed));
  });
  serve("GET", "/pulls/:number/diff", async (context, { repository, number }) => {
    const pull = await host.pullRequests(repository).read(number);
    return context.text(await readDiff(repository, { pull }));
  });
  serve("POST", "/pulls/:number/merge", async (context, request) =>
    context.json(await toJson(request, await mergeAs(host, request))),
  );
}

function addComments(serve: Serve, host: GitHost): void {
  serve("GET", "/pulls/:number/comments", async (context, { repository, number }) => {
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.commentStore(repository).comments(number) });
  });
  serve("POST", "/pulls/:number/comments", async (context, { repository, number, principal, read }) => {
    const pull = await host.pullRequests(repository).read(number);
    const comment = await readBody({ read }, "NewComment");
    await host.commentStore(repository).comment(pull, { ...comment, author: principalName(principal) });
    return context.json({ number }, 201);
  });
  serve("GET", "/pulls/:number/reviews", async (context, { repository, number }) => {
    await host.pullRequests(repository).read(number);
    return context.json({ items: await host.commentStore(repository).reviews(number) });
  });
  serve("POST", "/pulls/:number/reviews", async (context, { repository, number, principal, read }) => {
    const pull = await host.pullRequests(repository).read(number);
    const review = await readBody({ read }, "NewReview");
    await host.commentStore(repository).review(pull, { ...review, author: principalName(principal) });
    return context.json({ number }, 201);
  });
}

function addLabels(serve: Serve, host: GitHost): void {
  serve("POST", "/pulls/:number/labels", async (context, { repository, number, principal, read }) => {
    const pull = await host.pullRequests(repository).read(number);
    const { labels } = await readBody({ read }, "NewLabels");
    const store = host.marks(repository).labels;
    for (const label of new Set(labels)) await store.add(pull, label, principalName(principal));
    return context.json({ labels: await store.list(number) });
  });
  serve("DELETE", "/pulls/:number/labels/:label", async (context, { repository, number, principal }) => {
    const pull = await host.pullRequests(repository).read(number);
    const store = host.marks(repository).labels;
    await store.remove(pull, context.req.param("label") ?? "", principalName(principal));
    return context.json({ labels: await store.list(number) });
  });
}

function addStatuses(serve: Serve, host: GitHost): void {
  const path = "/statuses/:commit";
  serve("GET", path, async (context, { repository }) =>
    context.json({ items: await host.marks(repository).statuses.list(readCommit(context)) }),
  );
  serve("POST", path, async (context, { repository, principal, read }) => {
    const commit = readCommit(context);
    const status = await readBody({ read }, "NewStatus");
    await host.marks(repository).statuses.report(commit, { ...status, author: principalName(principal) });
    return context.json({ commit, ...status }, 201);
  });
}

function readCommit(context: Context<Env>): string {
  const text = (context.req.param("commit") ?? "").toLowerCase();
  if (/^[0-9a-f]{40}$/.test(text)) return text;
  throw new ApiError("validation_error", "The address must end in the full id of a commit, with 40 digits.");
}

interface RequestContext {
  repository: HostedRepository;
  principal: Principal;
  number: number;
  /** The body, as JSON. */
  read(): Promise<unknown>;
}

async function readConfirmed({ env: { incoming } }: Context<Env>, { confirm }: Access): Promise<unknown> {
  const wasComplete = incoming.complete;
  const { json } = await readJson(incoming, maxBodyBytes);
  if (!wasComplete) await confirm();
  return json;
}

/** Returns 0, which is never a pull request number, if the path has no valid number. */
const readNumber = (text: string | undefined): number => (/^[1-9]\d{0,8}$/.test(text ?? "") ? Number(text) : 0);

type Bodies = typeof import("./bodies.ts");

async function readBody<Name extends keyof Bodies>(
  { read }: Pick<RequestContext, "read">,
  name: Name,
): Promise<z.output<Bodies[Name]>> {
  const json = await read();
  const { [name]: body } = await import("./bodies.ts");
  const parsed = body.safeParse(json);
  if (parsed.success) return parsed.data as z.output<Bodies[Name]>;
  const [issue] = parsed.error.issues;
  throw new ApiError("validation_error", `${issue?.path.join(".") || "The body"}: ${issue?.message}.`);
}
