// Answers in the shape of the official description: made up from its schemas, with what matters put in.
import type { OpenAPIBackend } from "openapi-backend";
import type { FakeCheck, FakePull, FakeRepository, GithubState, Grant } from "./state.ts";

type Shape = Record<string, unknown>;

export interface Shapes {
  pull(repository: FakeRepository, pull: FakePull, tips: { head: string; base: string }): Shape;
  pullInList(repository: FakeRepository, pull: FakePull, tips: { head: string; base: string }): Shape;
  token(grant: Grant): Shape;
  user(login: string): Shape;
  installation(repository: FakeRepository): Shape;
  /** The made-up answer of an operation with these fields. */
  with(operation: string, fields: Shape): Shape;
  /** The made-up element of an operation that lists, with these fields. */
  listed(operation: string, fields: Shape): Shape;
  check(operation: string, check: FakeCheck): Shape;
}

export function openShapes(api: OpenAPIBackend, state: GithubState): Shapes {
  const made = new Map<string, Shape>();
  const mock = (operation: string): Shape => {
    const known = made.get(operation) ?? (api.mockResponseForOperation(operation).mock as Shape);
    made.set(operation, known);
    return structuredClone(known);
  };
  const first = (operation: string): Shape => (mock(operation) as unknown as Shape[])[0] ?? {};
  const user = (login: string): Shape => ({ ...(mock("pulls/get").user as Shape), login, id: idOf(login) });
  const side = (repository: FakeRepository, { ref, sha, isFork }: { ref: string; sha: string; isFork: boolean }) => {
    const shape = mock("pulls/get").base as Shape;
    const repo = { ...(shape.repo as Shape), id: isFork ? -1 : repository.id, name: repository.name };
    return { ...shape, ref, sha, label: `${repository.owner}:${ref}`, repo };
  };
  const fields = (repository: FakeRepository, pull: FakePull, tips: { head: string; base: string }) => ({
    number: pull.number,
    html_url: `${state.url}/${repository.owner}/${repository.name}/pull/${pull.number}`,
    title: pull.title,
    body: pull.body === "" ? null : pull.body,
    draft: pull.isDraft,
    state: pull.state,
    merged_at: pull.isMerged ? new Date(0).toISOString() : null,
    user: user(pull.author),
    head: side(repository, { ref: pull.head, sha: tips.head, isFork: pull.isFork }),
    base: side(repository, { ref: pull.base, sha: tips.base, isFork: false }),
    requested_reviewers: pull.reviewers.map(user),
    requested_teams: [],
    assignees: [],
    labels: [],
    milestone: null,
    auto_merge: null,
  });
  return {
    pull: (...about) => ({ ...mock("pulls/get"), ...fields(...about) }),
    pullInList: (...about) => ({ ...first("pulls/list"), ...fields(...about) }),
    token: ({ token, expiresAt, permissions }) => ({
      token,
      expires_at: new Date(expiresAt).toISOString(),
      permissions,
      repository_selection: "selected",
    }),
    user,
    installation: ({ owner, isSuspended }) => ({
      ...mock("apps/get-repo-installation"),
      id: idOf(owner),
      app_id: Number(state.appId),
      account: user(owner),
      suspended_at: isSuspended ? new Date(0).toISOString() : null,
      permissions: state.appPermissions,
    }),
    with: (operation, more) => ({ ...mock(operation), ...more }),
    check: (operation, { app: _app, output, ...check }) => {
      const shape = mock(operation);
      const shown = { ...(shape.output as Shape), ...output };
      return { ...shape, ...check, output: shown, pull_requests: [], check_suite: null };
    },
    listed: (operation, more) => ({ ...first(operation), ...more }),
  };
}

/** The same number for the same name. */
export const idOf = (name: string): number =>
  [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_000, 7) + 1;
