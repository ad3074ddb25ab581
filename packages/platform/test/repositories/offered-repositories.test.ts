// `GET /v1/repositories` for hosts that a team has a credential for: what their APIs list, and hosts that do not answer.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findLeaks } from "../harness/leaks.ts";
import { type CredentialHarness, openCredentialHarness } from "./credential-harness.ts";
import { freePort } from "./git-servers.ts";

const secret = "tok-5b0d-never-shown";

let harness: CredentialHarness;
beforeAll(async () => {
  harness = await openCredentialHarness();
});
afterAll(() => harness.close());

interface Listing {
  status?: number;
  body: unknown;
}

/** A git host with an API. Returns its URL, as a credential names it. */
async function serveApi(answer: (path: string, request: IncomingMessage) => Listing | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const { status = 200, body } = answer(request.url ?? "", request) ?? { status: 404, body: "<h1>Not found</h1>" };
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const page = (path: string) => Number(new URL(path, "http://host").searchParams.get("page"));

/** One page of two projects, as GitLab lists them. */
const gitlab = (path: string, request: IncomingMessage): Listing | undefined => {
  if (!path.startsWith("/api/v4/projects?membership=true&min_access_level=30")) return undefined;
  if (request.headers["private-token"] !== secret) return { status: 401, body: { message: "401 Unauthorized" } };
  const projects = [
    [{ path_with_namespace: "group/sub/shop" }, { path_with_namespace: "../../etc" }, null, { id: 3 }],
    [{ path_with_namespace: "group/blog" }],
  ];
  return { body: projects[page(path) - 1] ?? [] };
};

/** As Gitea and Forgejo list them. */
const gitea = (path: string, { headers }: IncomingMessage): Listing | undefined => {
  if (!path.startsWith("/api/v1/user/repos?")) return undefined;
  const expected = `Basic ${Buffer.from(`ada:${secret}`).toString("base64")}`;
  if (headers.authorization !== expected) return { status: 401, body: { message: "no" } };
  const repositories = [
    { full_name: "ada/tool", permissions: { push: true } },
    { full_name: "ada/read-only", permissions: { push: false } },
    { full_name: "ada/old", permissions: { push: true }, archived: true },
  ];
  return { body: page(path) === 1 ? repositories : [] };
};

const github = (path: string, { headers }: IncomingMessage): Listing | undefined => {
  if (!path.startsWith("/api/v3/user/repos?") || headers.authorization !== `Bearer ${secret}`) return undefined;
  return { body: page(path) === 1 ? [{ full_name: "acme/site", permissions: { push: true } }] : [] };
};

let teams = 0;

/** The list of a team that has a credential for each of these hosts. */
async function list(hosts: { host: string; user?: string }[]) {
  teams += 1;
  const key = await harness.server.key({
    team: `team-${teams}`,
    owner: { kind: "user", email: `${teams}@example.com` },
  });
  for (const { host, user } of hosts) {
    const kind = user === undefined ? "token" : "basic";
    expect(await harness.set({ host, kind, user, value: secret }, key)).toMatchObject({ status: 200 });
  }
  return harness.server.call(key, "GET", "/v1/repositories");
}

test("GitLab, Gitea and GitHub Enterprise list what the credential may push to", async () => {
  const hosts = [await serveApi(gitlab), await serveApi(gitea), await serveApi(github)];
  const [first = "", second = "", third = ""] = hosts;
  const { status, body } = await list([{ host: first }, { host: second, user: "ada" }, { host: third }]);
  expect(status).toBe(200);
  const { items, unavailable } = body as { items: { url: string }[]; unavailable?: unknown };
  expect(unavailable).toBeUndefined();
  expect(items.map(({ url }) => url).sort()).toEqual(
    [
      `${first}/group/sub/shop.git`,
      `${first}/group/blog.git`,
      `${second}/ada/tool.git`,
      `${third}/acme/site.git`,
    ].sort(),
  );
});

test("a host without an API, one that answers with pages, and one that asks for a password everywhere, list nothing", async () => {
  const login = await serveApi(() => ({ body: "<html>Please log in</html>" }));
  const locked = await serveApi(() => ({ status: 401, body: "<html>Unauthorized</html>" }));
  const { status, body } = await list([{ host: await serveApi(() => undefined) }, { host: login }, { host: locked }]);
  expect({ status, body }).toEqual({ status: 200, body: { items: [] } });
});

test("hosts that refuse the credential or do not answer are named with the reason, and the others are listed", async () => {
  const good = await serveApi(gitlab);
  const refusing = await serveApi((path) => (path.startsWith("/api/v4/") ? { status: 401, body: secret } : undefined));
  const failing = await serveApi(() => ({ status: 502, body: secret }));
  const gone = `http://127.0.0.1:${await freePort()}`;
  const { status, body } = await list([good, refusing, failing, gone].map((host) => ({ host })));
  expect(status).toBe(200);
  const { items, unavailable } = body as {
    items: { url: string }[];
    unavailable: { host: string; message: string }[];
  };
  expect(items).toContainEqual({ url: `${good}/group/blog.git` });
  const reasons = Object.fromEntries(unavailable.map(({ host, message }) => [host, message]));
  expect(reasons).toEqual({
    [refusing]: `${refusing} did not list its repositories: it refused the team's token. To set another: platform credentials set ${refusing} --kind token`,
    [failing]: `${failing} did not list its repositories: answered 502. Try again later.`,
    [gone]: `${gone} did not list its repositories: could not be reached. Try again later.`,
  });
  expect(JSON.stringify(body)).not.toContain(secret);
  expect(await findLeaks(harness.server, harness.logged, [secret])).toEqual([]);
});
