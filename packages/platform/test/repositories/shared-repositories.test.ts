// Hosted repositories of two servers with separate data directories, one database and one object store.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openDirectoryStore } from "../../src/foundation/objects/index.ts";
import { type GitHost, type HostedRepository, openGitHost } from "../../src/repositories/githost/index.ts";
import { recordPushes } from "../../src/repositories/githost/pushes.ts";
import { testSigner } from "../harness/signer.ts";
import { type GitHostHarness, openGitHostHarness, userGit } from "./git-host-harness.ts";

let harness: GitHostHarness;
let work: TemporaryDirectory;
let count = 0;
let name = "";
let first: GitHost;
let second: GitHost;
let beforeGet = async () => {};

beforeAll(async () => {
  harness = await openGitHostHarness();
});
afterAll(() => harness.close());

beforeEach(async () => {
  work = await temporaryDirectory();
  count += 1;
  name = `shop-${count}`;
  first = openServer("first");
  second = openServer("second");
});
afterEach(() => work.remove());

function openServer(server: string): GitHost {
  const dataDirectory = join(work.path, server);
  const directory = openDirectoryStore(join(work.path, "store"));
  const store = { ...directory, get: (key: string) => beforeGet().then(() => directory.get(key)) };
  return openGitHost({
    db: harness.db,
    vault: harness.vault,
    dataDirectory,
    objects: { store, local: openDirectoryStore(dataDirectory), isShared: true },
    signer: testSigner(harness.data),
    serverUrls: () => [harness.url],
  });
}

async function create(host: GitHost): Promise<HostedRepository> {
  const origin = await temporaryRepository({ "README.md": "# Shop\n" });
  const { teamId } = harness;
  const created = await host.repositories.create({ teamId, name, from: origin.path }, new AbortController().signal);
  await origin.remove();
  return created;
}

async function find(host: GitHost): Promise<HostedRepository> {
  const found = await host.repositories.find(harness.teamId, name);
  if (found === undefined) throw new Error(`no repository ${name}`);
  return found;
}

/** Git has received a push, and the server has not published it yet. Returns the new commit. */
async function receive({ directory }: HostedRepository, branch: string): Promise<string> {
  const clone = join(work.path, "clone");
  await rm(clone, { recursive: true, force: true });
  await userGit(work.path, "clone", "--quiet", directory, clone);
  await userGit(clone, "commit", "--quiet", "--allow-empty", `--message=${branch} ${Math.random()}`);
  await userGit(clone, "push", "--quiet", "--force", "origin", `HEAD:refs/heads/${branch}`);
  return userGit(clone, "rev-parse", "HEAD");
}

async function push(host: GitHost, branch: string): Promise<string> {
  const repository = await find(host);
  const commit = await receive(repository, branch);
  await host.repositories.publish(repository);
  return commit;
}

async function branchesOf({ directory }: HostedRepository): Promise<string[]> {
  return (await userGit(directory, "for-each-ref", "--format=%(refname:short)", "refs/heads")).split("\n");
}

const tipOf = ({ directory }: HostedRepository, branch: string) =>
  userGit(directory, "rev-parse", "--verify", `refs/heads/${branch}`);

const forgetPublished = ({ id }: HostedRepository) =>
  harness.db.deleteFrom("hosted_repository_saves").where("repository_id", "=", id).execute();

test("after a restore, which knows nothing of what was published, every branch stays and is published again", async () => {
  const created = await create(first);
  await push(first, "keep");
  await push(first, "topic");
  await forgetPublished(created);
  await receive(created, "topic");
  await first.repositories.publish(created);
  expect(await branchesOf(created)).toEqual(["keep", "main", "topic"]);
  expect(await branchesOf(await find(second))).toEqual(["keep", "main", "topic"]);
});

test("a branch that takes the name of a removed one as its directory reaches the other server", async () => {
  const created = await create(first);
  await push(first, "feature");
  expect(await branchesOf(await find(second))).toEqual(["feature", "main"]);
  await userGit(created.directory, "update-ref", "-d", "refs/heads/feature");
  await push(first, "feature/x");
  expect(await branchesOf(await find(second))).toEqual(["feature/x", "main"]);
});

test("a push that was received and not published reaches the other server once its server uses the repository", async () => {
  const created = await create(first);
  const commit = await receive(created, "topic");
  await find(first);
  expect(await tipOf(await find(second), "topic")).toBe(commit);
});

test("a repository from before there was an object store is published by the server that has it", async () => {
  const created = await create(first);
  await forgetPublished(created);
  await find(first);
  expect(await tipOf(await find(second), "main")).toBe(await tipOf(created, "main"));
});

test("a server without a copy of an unpublished repository does not publish an empty one", async () => {
  const created = await create(first);
  await forgetPublished(created);
  await find(second);
  await find(first);
  expect(await branchesOf(await find(second))).toEqual(["main"]);
  expect(await branchesOf(created)).toEqual(["main"]);
});

test("a server with an older copy does not record the branch that another one pushed as moved back", async () => {
  await create(first);
  const older = await find(second);
  await first.notePush(await find(first), "user");
  const commit = await push(first, "main");
  const record = (repository: HostedRepository) => {
    const recorded: object[] = [];
    const events = {
      record: async (_tx: unknown, _name: string, { more }: { more: object }) => void recorded.push(more),
      describe: async () => ({ pull_request: {} }),
      describeAt: () => ({ pull_request: {} }),
      issueOf: () => ({ issue: {} }),
    };
    const pulls = { read: () => Promise.reject(new Error("no pull request is open")) };
    const context = { db: harness.db, repository, events, openPulls: [], pulls, sender: "user", isShared: true };
    return recordPushes(context).then(() => recorded);
  };
  expect(await record(await find(first))).toMatchObject([{ ref: "refs/heads/main", after: commit }]);
  expect(await record(older)).toEqual([]);
  expect(await record(await find(second))).toEqual([]);
});

test("a push received while a fetch brings another server's change of the branch fails", async () => {
  await create(first);
  const copy = await find(second);
  const commit = await push(first, "main");
  const begun = second.repositories.beginPush(copy);
  beforeGet = async () => {
    beforeGet = async () => {};
    await receive(copy, "main");
  };
  await find(second);
  await expect(begun?.publish()).rejects.toThrow("Another server changed refs/heads/main");
  begun?.end();
  expect(await tipOf(copy, "main")).toBe(commit);
});
