// Repositories that the worker clones itself: from a host that asks for the token of the run, which is kept nowhere.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { cloneRepositories } from "../src/clones.ts";

const agent = "bc-00000000-0000-4000-8000-000000000001";
let fake: FakeGithub;
let commit: string;
let token: string;
beforeAll(async () => {
  fake = await startGithub();
  const { directory } = await fake.addRepository("acme/shop", { files: { "README.md": "Shop\n", "src/a.txt": "a\n" } });
  commit = execFileSync("git", ["-C", directory, "rev-parse", "main"]).toString().trim();
  token = fake.addToken("ada");
});
afterAll(() => fake.close());

async function cloning(more: object = {}, variables: NodeJS.ProcessEnv = process.env) {
  const { path: dataDirectory, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const shop = { name: "shop", url: `${fake.url}/acme/shop.git`, branch: "platform/work", commit, token };
  const answer = await cloneRepositories(
    { agent, repositories: [{ ...shop, ...more }] },
    { dataDirectory, variables: { ...variables, HTTP_PROXY: "", http_proxy: "" } },
  );
  return { ...answer, dataDirectory, clone: join(dataDirectory, "agents", agent, "clones/shop") };
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());

const git = (clone: string, ...args: string[]) =>
  execFileSync("git", ["-C", clone, ...args])
    .toString()
    .trim();

test("a clone has the files, the branches and the new branch of the agent, and the token is in no file", async () => {
  const { cloned, failed, clone, dataDirectory } = await cloning();
  expect({ cloned, failed }).toEqual({ cloned: ["shop"], failed: [] });
  expect(readFileSync(join(clone, "src/a.txt"), "utf8")).toBe("a\n");
  expect(git(clone, "rev-parse", "platform/work", "origin/main")).toBe(`${commit}\n${commit}`);
  const login = Buffer.from(`x-access-token:${token}`).toString("base64");
  const files = filesBelow(dataDirectory).map((path) => readFileSync(path));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((content) => content.includes(token) || content.includes(login))).toEqual([]);
});

test("without the token of the run it is not cloned, whatever login the operator has for that host", async () => {
  const { path: home, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const host = new URL(fake.url).hostname;
  writeFileSync(join(home, ".netrc"), `machine ${host} login x password ${token}\n`, { mode: 0o600 });
  const config = `[http "${fake.url}/"]\n\textraHeader = Authorization: Basic ${Buffer.from(`x:${token}`).toString("base64")}\n`;
  writeFileSync(join(home, ".gitconfig"), config);
  const variables = { ...process.env, HOME: home, GIT_CONFIG_GLOBAL: join(home, ".gitconfig") };
  const { cloned, failed, clone } = await cloning({ token: undefined }, variables);
  expect(cloned).toEqual([]);
  expect(failed).toEqual([{ name: "shop", message: expect.stringMatching(/could not read|Authentication failed/) }]);
  expect(existsSync(clone)).toBe(false);
});

test("a refusal does not name the token, and a redirect does not get it", async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  const moved = createServer((_, response) => {
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/acme/shop.git/info/refs`;
    response.writeHead(301, { location }).end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => [other, moved].forEach((server) => void server.close()));
  await expect.poll(() => moved.listening && other.listening).toBe(true);
  const url = `http://127.0.0.1:${(moved.address() as AddressInfo).port}/acme/shop.git`;
  const { cloned, failed } = await cloning({ url });
  expect(cloned).toEqual([]);
  expect(JSON.stringify(failed)).not.toContain(token);
  expect(seen).toEqual([]);
});

test("repositories that are not cloned in the time for all of them are named, and the others stay", async () => {
  const deadline = new AbortController();
  const asked: (string | undefined)[] = [];
  const silent = createServer(({ url }) => {
    asked.push(url);
    deadline.abort();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await expect.poll(() => silent.listening).toBe(true);
  const slow = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/acme/slow.git`;
  const { path: dataDirectory, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const shop = { name: "shop", url: `${fake.url}/acme/shop.git`, branch: "platform/work", commit, token };
  const repositories = [shop, { ...shop, name: "slow", url: slow }, { ...shop, name: "slower", url: slow }];
  const variables = { ...process.env, HTTP_PROXY: "", http_proxy: "" };
  const { cloned, failed } = await cloneRepositories(
    { agent, repositories },
    { dataDirectory, variables, deadline: deadline.signal },
  );
  expect(cloned).toEqual(["shop"]);
  expect(asked).toHaveLength(1);
  expect(failed).toEqual(
    ["slow", "slower"].map((name) => ({ name, message: expect.stringContaining("did not end within 10 minutes") })),
  );
});

test("a branch name cannot lead out of the clone, and a commit that is not there is not cloned", async () => {
  for (const more of [{ branch: "../../config" }, { commit: "0".repeat(40) }]) {
    const { cloned, clone, failed } = await cloning(more);
    expect(cloned).toEqual([]);
    expect(failed).toHaveLength(1);
    expect(existsSync(clone)).toBe(false);
  }
});
