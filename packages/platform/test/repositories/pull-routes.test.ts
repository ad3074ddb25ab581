// Repositories of the embedded git host in the API: browsed and imported, and their pull requests from listing to merging.
import type {
  CommitDetails,
  CommitPage,
  PullRequestDetails,
  PullRequestPage,
  RepositoryDetails,
} from "@agentcli/protocol/api";
import { openClient } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { openPull } from "./open-pull.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

const ask = (method: string, path: string, body?: unknown) => openClient(server.url, key).send(method, path, body);
const readDetails = async (path: string) => (await ask("GET", path)).body as PullRequestDetails;

test("a pull request is read with its changes, discussed line by line, reviewed and merged", async () => {
  const { name, number } = await openPull(server.url, key, "shop");
  const path = `/v1/repositories/${name}/pulls/${number}`;
  expect(await readDetails(path)).toMatchObject({
    ...{ title: "Say more", body: "A **better** text.", state: "open", head: "topic", base: "main" },
    ...{ url: `${server.url}/git/shop/pulls/1`, comments: [], reviews: [], checks: [], labels: [] },
  });
  const diff = (await ask("GET", `${path}/diff`)).body as { patch: string; truncated: boolean };
  expect(diff.patch).toContain("+new line");
  expect(diff.truncated).toBe(false);

  await ask("POST", `${path}/comments`, { body: "Why?", path: "README.md", line: 3 });
  const beyond = { body: "Where?", path: "README.md", line: 3_000_000_000 };
  for (const route of [path, `/git/${name}/pulls/${number}`])
    expect([route, (await ask("POST", `${route}/comments`, beyond)).status]).toEqual([route, 400]);
  const reviewed = await ask("POST", `${path}/reviews`, { verdict: "changes_requested", body: "Say less." });
  expect(reviewed.status).toBe(201);
  expect(reviewed.body).toMatchObject({
    comments: [{ author: "admin@localhost", body: "Why?", path: "README.md", line: 3 }],
    reviews: [{ verdict: "changes_requested", body: "Say less." }],
  });
  const { headCommit = "" } = await readDetails(path);
  await ask("POST", `/git/${name}/statuses/${headCommit}`, {
    state: "success",
    context: "ci",
    description: "12 passed",
  });
  expect((await readDetails(path)).checks).toMatchObject([
    { context: "ci", state: "success", description: "12 passed" },
  ]);

  expect((await ask("PATCH", path, { draft: true })).body).toMatchObject({ state: "draft" });
  const refused = await ask("POST", `${path}/merge`);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("draft");
  await ask("PATCH", path, { draft: false, state: "closed" });
  expect((await readDetails(path)).state).toBe("closed");
  await ask("PATCH", path, { state: "open" });
  const outdated = await ask("POST", `${path}/merge`, { headCommit: "0".repeat(40) });
  expect([outdated.status, outdated.text]).toEqual([409, expect.stringContaining("newer commits")]);
  expect((await ask("POST", `${path}/merge`)).body).toMatchObject({ state: "merged" });
  expect((await ask("PATCH", path, { state: "closed" })).status).toBe(409);
  expect(((await ask("GET", `${path}/diff`)).body as { patch: string }).patch).toContain("+new line");
});

test("the list has pages, newest first, and another team sees nothing of it", async () => {
  const { name } = await openPull(server.url, key, "paged");
  for (const title of ["Second", "Third"]) {
    await ask("PATCH", `/v1/repositories/${name}/pulls/${title === "Second" ? 1 : 2}`, { state: "closed" });
    await ask("POST", `/git/${name}/pulls`, { title, head: "topic" });
  }
  const page = async (query: string) =>
    (await ask("GET", `/v1/repositories/${name}/pulls${query}`)).body as PullRequestPage;
  const first = await page("?limit=2");
  expect(first.items.map(({ title }) => title)).toEqual(["Third", "Second"]);
  const rest = await page(`?limit=2&before=${first.nextBefore}`);
  expect(rest.items.map(({ title }) => title)).toEqual(["Say more"]);
  expect(rest.nextBefore).toBeUndefined();

  const stranger = openClient(server.url, await server.key({ team: "other" }));
  for (const below of ["", "/1", "/1/diff"])
    expect((await stranger.send("GET", `/v1/repositories/${name}/pulls${below}`)).status).toBe(404);
  for (const below of ["/1/merge", "/1/comments", "/1/reviews"]) {
    const body = below === "/1/reviews" ? { verdict: "approved" } : below === "/1/comments" ? { body: "x" } : undefined;
    expect((await stranger.send("POST", `/v1/repositories/${name}/pulls${below}`, body)).status).toBe(404);
  }
});

test("branches, folders, files and commits are read by exact names, and of a commit its changes", async () => {
  const { name } = await openPull(server.url, key, "browsed");
  const path = `/v1/repositories/${name}`;
  const read = async <Answer>(below: string) => (await ask("GET", `${path}${below}`)).body as Answer;
  const details = await read<RepositoryDetails>("");
  expect(details).toMatchObject({ name, defaultBranch: "main", url: `${server.url}/git/browsed.git` });
  expect(details.branches.map((branch) => branch.name).sort()).toEqual(["main", "topic"]);
  const topic = details.branches.find((branch) => branch.name === "topic")?.commit ?? "";

  expect(await read("/contents?ref=topic")).toMatchObject({
    ...{ kind: "folder", commit: topic, path: "", truncated: false },
    entries: [
      { name: "README.md", kind: "file", sizeBytes: 17 },
      { name: "more.txt", kind: "file", sizeBytes: 5 },
    ],
  });
  expect(await read("/contents?path=README.md")).toMatchObject({ kind: "file", text: "# Shop\n\nold line\n" });
  expect(await read(`/contents?ref=${topic}&path=more.txt`)).toMatchObject({ text: "more\n", commit: topic });

  const commits = await read<CommitPage>("/commits?ref=topic&limit=1");
  expect(commits).toMatchObject({ commit: topic, nextSkip: 1, items: [{ commit: topic, subject: "Change" }] });
  const older = await read<CommitPage>(`/commits?ref=${commits.commit}&skip=1`);
  expect(older.items.map(({ parents }) => parents)).toEqual([[]]);
  expect(older.nextSkip).toBeUndefined();
  expect((await read<CommitPage>("/commits?ref=topic&path=more.txt")).items).toHaveLength(1);
  const commit = await read<CommitDetails>(`/commits/${topic}`);
  expect(commit).toMatchObject({ message: "Change", truncated: false, parents: [older.items[0]?.commit] });
  expect(commit.patch).toContain("+new line");
  expect((await read<CommitDetails>(`/commits/${older.items[0]?.commit}`)).patch).toContain("+old line");

  const refused = ["?ref=main^{/Change}", "?ref=refs/heads/main", "?ref=-h", "?path=../README.md", "?path=nothing"];
  for (const query of [...refused, "?path=README.md%0A", "?ref=HEAD", `?ref=${topic.slice(0, 10)}`])
    expect([query, (await ask("GET", `${path}/contents${query}`)).status]).toEqual([query, 404]);
  expect((await ask("GET", `${path}/contents?path=a%00b`)).status).toBe(400);
  expect((await ask("GET", `${path}/commits/${"0".repeat(40)}`)).status).toBe(404);
  const stranger = openClient(server.url, await server.key({ team: "other" }));
  for (const below of ["", "/contents", "/commits", `/commits/${topic}`])
    expect((await stranger.send("GET", `${path}${below}`)).status).toBe(404);
});

test("a repository is created with the commits of another; what its address must not reach is refused by its name", async () => {
  await openPull(server.url, key, "original");
  const create = (body: object) => ask("POST", "/v1/repositories", body);
  const importUrl = `${server.url}/git/original.git`;
  expect((await create({ name: "copied", importUrl })).body).toMatchObject({ name: "copied", defaultBranch: "main" });
  const { branches } = (await ask("GET", "/v1/repositories/copied")).body as RepositoryDetails;
  expect(branches.map((branch) => branch.name).sort()).toEqual(["main", "topic"]);
  expect((await create({ name: "copied", importUrl })).status).toBe(409);
  await create({ name: "empty" });
  for (const [address, reason] of [
    [`${server.url}/git/empty.git`, "is empty"],
    [`${server.url}/git/nothing.git`, "no repository"],
    ["file:///etc", "importUrl"],
    ["https://10.0.0.1/o/r.git", "private"],
  ]) {
    const answer = await create({ name: "refused", importUrl: address });
    expect([address, answer.status, answer.text]).toEqual([address, 400, expect.stringContaining(reason ?? "")]);
    expect(answer.text).not.toContain("repos[0]");
  }
  expect((await ask("GET", "/v1/repositories/refused")).status).toBe(404);
});
