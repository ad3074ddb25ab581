// The operations that the platform uses, with the rules that GitHub has for them.
import type { Context } from "openapi-backend";
import { accountOperations } from "./accounts.ts";
import { checkOperations } from "./checks.ts";
import { inquiryOperations } from "./inquiries.ts";
import { type Operation, pageOf, type RequestReader } from "./request.ts";
import { idOf, type Shapes } from "./shapes.ts";
import { type FakePull, type FakeRepository, GithubError, type GithubState, tipOf } from "./state.ts";
import { findGrant, grantFor, type Need, requireApp, requireGrant } from "./tokens.ts";

export function operationsOf(state: GithubState, shapes: Shapes): Record<string, Operation> {
  const reader = openRequestReader(state, shapes);
  return {
    ...appOperations(state, shapes),
    ...personOperations(state, shapes),
    ...pullOperations(reader),
    ...reviewOperations(reader),
    ...commentOperations(reader),
    ...checkOperations(reader),
    ...accountOperations(state, reader),
    ...inquiryOperations(state, reader),
  };
}

function openRequestReader(state: GithubState, shapes: Shapes): RequestReader {
  const at = (context: Context, permission: Need["permission"]) => {
    const repository = findRepository(state, context);
    const { login, kind } = requireGrant(state, headerOf(context, "authorization"), { repository, permission });
    if (repository === undefined) throw new GithubError(404, "Not Found");
    return { repository, login, kind, body: context.request.requestBody };
  };
  const onPull = (context: Context, permission: Need["permission"]) => {
    const found = at(context, permission);
    const number = Number(context.request.params.pull_number ?? context.request.params.issue_number);
    const pull = found.repository.pulls.find((one) => one.number === number);
    if (pull === undefined) throw new GithubError(404, "Not Found");
    return { ...found, pull };
  };
  const shown = async (repository: FakeRepository, pull: FakePull) =>
    shapes.pull(repository, pull, await tipsOf(repository, pull));
  return { shapes, repositoryRequest: at, pullRequest: onPull, showPull: shown };
}

const appOperations = (state: GithubState, shapes: Shapes): Record<string, Operation> => ({
  "apps/get-repo-installation": async (context) => {
    requireApp(state, headerOf(context, "authorization"));
    const repository = findRepository(state, context);
    if (!repository?.isInstalled) throw new GithubError(404, "Not Found");
    return { status: 200, body: shapes.installation(repository) };
  },
  "apps/create-installation-access-token": async (context) => {
    requireApp(state, headerOf(context, "authorization"));
    const known = state.repositories.map(({ owner }) => idOf(owner));
    const id = Number(context.request.params.installation_id);
    if (!known.includes(id)) throw new GithubError(404, "Not Found");
    if (state.repositories.some(({ owner, isSuspended }) => idOf(owner) === id && isSuspended))
      throw new GithubError(403, "This installation has been suspended");
    return { status: 201, body: shapes.token(grantFor(state, { ...context.request.requestBody, installation: id })) };
  },
  "apps/list-installations": async (context) => {
    requireApp(state, headerOf(context, "authorization"));
    const installed = state.repositories.filter(({ isInstalled }) => isInstalled);
    const firsts = installed.filter(({ owner }, index) => installed.findIndex((one) => one.owner === owner) === index);
    // The official description of lists wants an account to be both a user and an enterprise, or none.
    const listed = firsts.map((repository) => ({ ...shapes.installation(repository), account: null }));
    return { status: 200, body: pageOf(listed, context) };
  },
  "apps/list-repos-accessible-to-installation": async (context) => {
    const grant = findGrant(state, headerOf(context, "authorization"));
    if (grant?.installation === undefined) throw new GithubError(401, "Bad credentials");
    const all = state.repositories.filter(
      ({ owner, isInstalled }) => isInstalled && idOf(owner) === grant.installation,
    );
    const repositories = pageOf(all, context).map((one) => listedRepository(shapes, one, grant.login));
    return { status: 200, body: { total_count: all.length, repositories } };
  },
});

/** As the person or the app sees it. */
const listedRepository = (shapes: Shapes, { id, owner, name, collaborators }: FakeRepository, login: string): object =>
  shapes.listed("repos/list-for-authenticated-user", {
    ...{ id, name, full_name: `${owner}/${name}`, owner: shapes.user(owner) },
    permissions: { admin: false, push: collaborators.includes(login), pull: true },
  });

const personOperations = (state: GithubState, shapes: Shapes): Record<string, Operation> => ({
  "users/get-authenticated": async (context) => {
    const grant = findGrant(state, headerOf(context, "authorization"));
    if (grant === undefined) throw new GithubError(401, "Bad credentials");
    return { status: 200, body: shapes.with("users/get-authenticated", { login: grant.login, id: idOf(grant.login) }) };
  },
  "repos/list-for-authenticated-user": async (context) => {
    const grant = findGrant(state, headerOf(context, "authorization"));
    if (grant === undefined) throw new GithubError(401, "Bad credentials");
    return {
      status: 200,
      body: pageOf(state.repositories, context).map((one) => listedRepository(shapes, one, grant.login)),
    };
  },
  "repos/get": async (context) => {
    const repository = findRepository(state, context);
    const { login } = requireGrant(state, headerOf(context, "authorization"), {
      repository,
      permission: ["metadata", "read"],
    });
    const push = repository?.collaborators.includes(login) ?? false;
    return {
      status: 200,
      body: shapes.with("repos/get", {
        name: repository?.name,
        // The official example violates its own schema here: forks without a language.
        language: null,
        parent: undefined,
        source: undefined,
        owner: shapes.user(repository?.owner ?? ""),
        permissions: { admin: false, push, pull: true },
      }),
    };
  },
});

const pullOperations = ({
  shapes,
  repositoryRequest: at,
  pullRequest: onPull,
  showPull: shown,
}: RequestReader): Record<string, Operation> => ({
  "pulls/list": async (context) => {
    const { repository } = at(context, ["pull_requests", "read"]);
    const found = repository.pulls.filter((pull) => matchesQuery(repository, pull, context.request.query));
    const body = found.map(async (pull) => shapes.pullInList(repository, pull, await tipsOf(repository, pull)));
    return { status: 200, body: await Promise.all(body) };
  },
  "pulls/get": async (context) => {
    const { repository, pull } = onPull(context, ["pull_requests", "read"]);
    return { status: 200, body: await shown(repository, pull) };
  },
  "pulls/create": async (context) => {
    const { repository, login, body } = at(context, ["pull_requests", "write"]);
    await checkBranches(repository, body);
    if (body.draft && !repository.allowsDrafts)
      throw new GithubError(422, "Draft pull requests are not supported in this repository.");
    const pull: FakePull = {
      number: repository.pulls.length + 1,
      title: body.title,
      body: body.body ?? "",
      head: body.head,
      base: body.base,
      state: "open",
      isMerged: false,
      isDraft: body.draft ?? false,
      isFork: false,
      author: login,
      reviewers: [],
      requests: [],
      comments: [],
      reviews: [],
    };
    repository.pulls.push(pull);
    return { status: 201, body: await shown(repository, pull) };
  },
  "pulls/update": async (context) => {
    const { repository, pull, body } = onPull(context, ["pull_requests", "write"]);
    Object.assign(pull, body);
    return { status: 200, body: await shown(repository, pull) };
  },
});

const reviewOperations = ({
  shapes,
  repositoryRequest: at,
  pullRequest: onPull,
  showPull: shown,
}: RequestReader): Record<string, Operation> => ({
  "pulls/list-requested-reviewers": async (context) => {
    const { pull } = onPull(context, ["pull_requests", "read"]);
    return { status: 200, body: { users: pull.reviewers.map(shapes.user), teams: [] } };
  },
  "pulls/request-reviewers": async (context) => {
    const { repository, pull, body } = onPull(context, ["pull_requests", "write"]);
    const requested: string[] = body.reviewers ?? [];
    if (requested.includes(pull.author))
      throw new GithubError(422, "Review cannot be requested from pull request author.");
    if (requested.some((login) => !repository.collaborators.includes(login)))
      throw new GithubError(422, "Reviews may only be requested from collaborators.");
    pull.requests.push(requested);
    pull.reviewers = [...new Set([...pull.reviewers, ...requested])];
    return { status: 201, body: await shown(repository, pull) };
  },
  "pulls/list-reviews": async (context) => {
    const { pull } = onPull(context, ["pull_requests", "read"]);
    return {
      status: 200,
      body: pageOf(pull.reviews, context).map(({ author, event }) =>
        shapes.listed("pulls/list-reviews", {
          ...{ id: pull.reviews.findIndex((one) => one.author === author && one.event === event) + 1 },
          ...{ user: shapes.user(author), state: reviewStates[event] ?? event },
        }),
      ),
    };
  },
  "pulls/create-review": async (context) => {
    const { pull, login, body } = onPull(context, ["pull_requests", "write"]);
    if (pull.author === login && body.event !== "COMMENT")
      throw new GithubError(422, "Unprocessable Entity", ["Can not approve your own pull request"] as never);
    if (body.event !== "APPROVE" && !body.body && !body.comments?.length)
      throw new GithubError(422, "Unprocessable Entity", [{ message: "Body can't be blank" }]);
    pull.reviews.push({ event: body.event, body: body.body ?? "", author: login, comments: body.comments ?? [] });
    return { status: 200, body: shapes.with("pulls/create-review", { user: shapes.user(login) }) };
  },
  "pulls/dismiss-review": async (context) => {
    const { pull, body } = onPull(context, ["pull_requests", "write"]);
    const review = pull.reviews[Number(context.request.params.review_id) - 1];
    if (review === undefined) throw new GithubError(404, "Not Found");
    if (review.event === "COMMENT") throw new GithubError(422, "Can not dismiss a commented pull request review");
    Object.assign(review, { event: "DISMISSED", body: body.message });
    return { status: 200, body: shapes.with("pulls/dismiss-review", { user: shapes.user(review.author) }) };
  },
  "repos/check-collaborator": async (context) => {
    const { repository } = at(context, ["metadata", "read"]);
    if (!repository.collaborators.includes(String(context.request.params.username)))
      throw new GithubError(404, "Not Found");
    return { status: 204 };
  },
});

const reviewStates: Record<string, string> = {
  APPROVE: "APPROVED",
  REQUEST_CHANGES: "CHANGES_REQUESTED",
  COMMENT: "COMMENTED",
};

const commentOperations = ({ shapes, pullRequest: onPull }: RequestReader): Record<string, Operation> => ({
  "pulls/create-review-comment": async (context) => {
    const { repository, pull, body } = onPull(context, ["pull_requests", "write"]);
    if (body.commit_id !== (await tipOf(repository, pull.head)))
      throw new GithubError(422, "Validation Failed", [
        { field: "pull_request_review_thread.commit_id", code: "invalid" },
      ]);
    pull.comments.push({ body: body.body, path: body.path, line: body.line, commit: body.commit_id });
    return { status: 201, body: shapes.with("pulls/create-review-comment", { body: body.body }) };
  },
  "issues/create-comment": async (context) => {
    const { pull, body } = onPull(context, ["pull_requests", "write"]);
    pull.comments.push({ body: body.body });
    return { status: 201, body: shapes.with("issues/create-comment", { body: body.body }) };
  },
});

const findRepository = ({ repositories }: GithubState, { request: { params } }: Context): FakeRepository | undefined =>
  repositories.find(
    ({ owner, name }) =>
      owner.toLowerCase() === String(params.owner).toLowerCase() &&
      name.toLowerCase() === String(params.repo).toLowerCase(),
  );

const headerOf = ({ request }: Context, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

function matchesQuery({ owner }: FakeRepository, pull: FakePull, query: Record<string, unknown>): boolean {
  const { state = "open", head, base } = query;
  const isState = state === "all" || pull.state === state;
  return (
    isState && (head === undefined || head === `${owner}:${pull.head}`) && (base === undefined || base === pull.base)
  );
}

async function tipsOf(repository: FakeRepository, { head, base }: FakePull): Promise<{ head: string; base: string }> {
  const [headTip = "", baseTip = ""] = [await tipOf(repository, head), await tipOf(repository, base)];
  return { head: headTip, base: baseTip };
}

/** With the messages of GitHub. */
async function checkBranches(
  repository: FakeRepository,
  { head, base }: { head: string; base: string },
): Promise<void> {
  const failed = (error: object) => new GithubError(422, "Validation Failed", [{ resource: "PullRequest", ...error }]);
  const [headTip, baseTip] = [await tipOf(repository, head), await tipOf(repository, base)];
  if (headTip === undefined) throw failed({ field: "head", code: "invalid" });
  if (baseTip === undefined) throw failed({ field: "base", code: "invalid" });
  const isOpen = repository.pulls.some((pull) => pull.state === "open" && pull.head === head && pull.base === base);
  if (isOpen)
    throw failed({ code: "custom", message: `A pull request already exists for ${repository.owner}:${head}.` });
  const common = await repository.git("merge-base", headTip, baseTip).catch(() => undefined);
  if (common === undefined)
    throw failed({ code: "custom", message: `The ${head} branch has no history in common with ${base}` });
  if (common === headTip) throw failed({ code: "custom", message: `No commits between ${base} and ${head}` });
}
