// Checks beside commits, as the pretended GitHub keeps them: only apps may make any.
import { type Operation, pageOf, type RequestReader } from "./request.ts";
import { type FakeCheck, GithubError } from "./state.ts";

export const checkOperations = ({ shapes, repositoryRequest: at }: RequestReader): Record<string, Operation> => ({
  "checks/list-for-ref": async (context) => {
    const { repository } = at(context, ["checks", "read"]);
    const { check_name } = context.request.query;
    const found = repository.checks.filter(
      ({ head_sha, name }) => head_sha === context.request.params.ref && (!check_name || name === check_name),
    );
    const check_runs = pageOf(found, context).map((check) => shapes.check("checks/create", check));
    return { status: 200, body: { total_count: found.length, check_runs } };
  },
  "checks/create": async (context) => {
    const { repository, login, kind, body } = at(context, ["checks", "write"]);
    if (kind !== "app") throw new GithubError(403, "You must authenticate via a GitHub App.");
    const known = await repository.git("cat-file", "-t", body.head_sha).catch(() => "nothing");
    if (known !== "commit") throw new GithubError(422, `No commit found for SHA: ${body.head_sha}`);
    checkConclusion(body);
    const check: FakeCheck = {
      id: repository.id * 10_000 + repository.checks.length + 1,
      app: login,
      head_sha: body.head_sha,
      name: body.name,
      external_id: body.external_id ?? "",
      details_url: body.details_url ?? "",
      status: body.status ?? "queued",
      conclusion: body.conclusion ?? null,
      output: { title: body.output?.title ?? null, summary: body.output?.summary ?? null },
    };
    repository.checks.push(check);
    return { status: 201, body: shapes.check("checks/create", check) };
  },
  "checks/update": async (context) => {
    const { repository, body } = at(context, ["checks", "write"]);
    const check = repository.checks.find(({ id }) => id === Number(context.request.params.check_run_id));
    if (check === undefined) throw new GithubError(404, "Not Found");
    checkConclusion(body);
    const { status = check.status, conclusion = check.conclusion, output = check.output } = body;
    Object.assign(check, { status, conclusion, output });
    return { status: 200, body: shapes.check("checks/update", check) };
  },
});

/** The description lets this pass; GitHub does not. */
function checkConclusion({ status, conclusion }: { status?: string; conclusion?: string }): void {
  if (status === "completed" && conclusion === undefined)
    throw new GithubError(422, "Invalid request. conclusion is missing.");
}
