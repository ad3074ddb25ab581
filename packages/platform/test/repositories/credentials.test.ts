// Credentials of teams for git hosts over HTTP: whole runs with them, who may set them, and that they appear nowhere.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findLeaks } from "../harness/leaks.ts";
import {
  type CredentialHarness,
  type GuardedServer,
  openCredentialHarness,
  serveGuarded,
} from "./credential-harness.ts";
import { type HttpGitServer, serveHttp } from "./git-servers.ts";

const secret = "tok-3f9c2a71b0de-never-shown";
const password = "pass: wörd-71b0de";
const basic = (user: string, value: string) => `Basic ${Buffer.from(`${user}:${value}`).toString("base64")}`;
const secrets = [secret, password, basic("x-access-token", secret).slice(6), basic("ada", password).slice(6)];

let harness: CredentialHarness;
let bearer: GuardedServer;
let asPassword: GuardedServer;
const servers: HttpGitServer[] = [];

beforeAll(async () => {
  harness = await openCredentialHarness();
  bearer = await serveGuarded(harness.served, {
    challenge: 'Bearer realm="git"',
    accepts: (header) => header === `Bearer ${secret}`,
  });
  asPassword = await serveGuarded(harness.served, {
    challenge: 'Basic realm="git"',
    accepts: (header) => [basic("x-access-token", secret), basic("ada", password)].includes(header),
  });
  servers.push(bearer, asPassword);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await harness.close();
});

const branchesOf = async (directory: string): Promise<string> =>
  (await promisify(execFile)("git", ["for-each-ref", "--format=%(refname:short)"], { cwd: directory })).stdout;

/** What an agent can see of the credentials of its repository. */
const look =
  "env; cat /proc/*/cmdline /proc/*/environ; git config --list; git remote --verbose; cat .git/config; echo new > new.txt";

test("a run clones, pushes and hands off with the team's token, which nothing shows", async () => {
  const directory = await harness.addRepository("shop");
  const answer = await harness.set({ host: bearer.url, kind: "token", value: `${secret}\n` });
  expect(answer).toMatchObject({ status: 200, body: { host: bearer.url, kind: "token" } });
  const run = await harness.run(`${bearer.url}/shop.git`, look);
  expect(run).toMatchObject({ status: "FINISHED", git: { branches: [{ branch: expect.any(String) }] } });
  expect(await branchesOf(directory)).toContain(run.git?.branches[0]?.branch);
  expect(bearer.asked.join()).toContain("POST /shop.git/git-receive-pack");
  const stream = `/v1/agents/${run.agentId}/runs/${run.id}/stream`;
  const frames = await fetch(`${harness.server.url}${stream}`, { headers: { authorization: `Bearer ${harness.key}` } });
  const shown = [JSON.stringify(run), await frames.text(), bearer.commandLines.join("\n")].join("\n");
  for (const one of secrets) expect(shown).not.toContain(one);
  expect(await findLeaks(harness.server, harness.logged, secrets)).toEqual([]);
});

test("a token is sent as a password to a host that asks for one, and a user with a password replaces it", async () => {
  const host = asPassword.url;
  await harness.addRepository("basic");
  await harness.set({ host, kind: "token", value: secret });
  expect(await harness.run(`${host}/basic.git`, "echo a > a.txt")).toMatchObject({ status: "FINISHED" });
  expect(new Set(asPassword.received)).toEqual(new Set([basic("x-access-token", secret)]));
  asPassword.received.length = 0;
  await harness.set({ host, kind: "basic", user: "ada", value: password });
  expect(await harness.run(`${host}/basic.git`, "echo a > a.txt")).toMatchObject({ status: "FINISHED" });
  expect(new Set(asPassword.received)).toEqual(new Set([basic("ada", password)]));
  const { body } = await harness.server.call(harness.key, "GET", "/v1/team/credentials");
  const { items } = body as { items: { host: string }[] };
  expect(items.filter((one) => one.host === host)).toMatchObject([{ kind: "basic", user: "ada" }]);
});

test("a refused credential is named with its host and the command that sets another, and the host may repeat it", async () => {
  const wrong = "wrong-token-71b0de";
  const echoing = await serveHttp(harness.served, (request, response) => {
    const text = `error: no access with ${request.headers.authorization ?? "nothing"}`;
    response.writeHead(403, { "content-type": "text/plain" }).end(text);
    return true;
  });
  servers.push(echoing);
  for (const [url, status] of [
    [bearer.url, ""],
    [echoing.url, " (403 Forbidden)"],
  ]) {
    await harness.set({ host: url, kind: "token", value: wrong });
    const { error, status: state } = await harness.run(`${url}/shop.git`, "true");
    expect({ state, code: error?.code }).toEqual({ state: "ERROR", code: "repository_unreachable" });
    expect(error?.message).toContain(`refused the team's token for ${url}${status}`);
    expect(error?.message).toContain(`platform credentials set ${url} --kind token`);
    expect(error?.message).not.toContain(wrong);
  }
  expect(await findLeaks(harness.server, harness.logged, [wrong])).toEqual([]);
  await harness.set({ host: bearer.url, kind: "token", value: secret });
});

test("a credential that may only read is named when the push is refused", async () => {
  const directory = await harness.addRepository("readonly");
  const host = await serveGuarded(harness.served, {
    challenge: 'Basic realm="git"',
    accepts: (_header, request) => !request.url?.includes("receive-pack"),
  });
  servers.push(host);
  await harness.set({ host: host.url, kind: "basic", user: "ada", value: password });
  const { error } = await harness.run(`${host.url}/readonly.git`, "echo a > a.txt");
  expect(error).toMatchObject({
    code: "push_rejected",
    message: expect.stringContaining(`refused the push with the team's user name and password for ${host.url}`),
  });
  expect((await branchesOf(directory)).trim()).toBe("main");
});

test("a credential of one team is not used for another, nor sent to another host, port or protocol", async () => {
  await harness.addRepository("ours");
  await harness.set({ host: bearer.url, kind: "token", value: secret });
  const other = await harness.server.key({ team: "other", owner: { kind: "user", email: "eve@example.com" } });
  const before = bearer.received.length;
  const { error } = await harness.run(`${bearer.url}/ours.git`, "true", other);
  expect(error?.message).toMatch(/asks for credentials that the platform does not have/);
  expect(error?.message).toContain(`platform credentials set ${bearer.url} --kind token --team other`);
  expect(bearer.received.length).toBe(before);
  const elsewhere = await serveGuarded(harness.served, { challenge: "Basic", accepts: () => false });
  const moving = await serveHttp(harness.served, (request, response) => {
    if (request.headers.authorization !== `Bearer ${secret}`)
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    else response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
    return true;
  });
  servers.push(elsewhere, moving);
  await harness.set({ host: moving.url, kind: "token", value: secret });
  expect(await harness.run(`${moving.url}/ours.git`, "true")).toMatchObject({ status: "ERROR" });
  expect(elsewhere.asked.length).toBeGreaterThan(0);
  expect(elsewhere.received).toEqual([]);
});
