// What a runtime secret is for: an agent uses it in the usual programs, and neither the model nor a reader of the run sees it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../repositories/git-servers.ts";
import { base64, formsOf } from "./canary-forms.ts";
import { expectNowhere, openWithSecrets } from "./canary-harness.ts";

const secrets = {
  API_TOKEN: "api-5c1e90d7b2",
  GIT_TOKEN: "ghp-83fa61c4de",
  NPM_TOKEN: "npm-d09b37e5fa",
  REGISTRY_PASSWORD: "reg-4e7718ca06",
};
const basic = (user: string, password: string) => `Basic ${base64(`${user}:${password}`)}`;

/** What each service asks for, by the beginning of its paths. */
const credentials: Record<string, string> = {
  "/api": `Bearer ${secrets.API_TOKEN}`,
  "/shop.git": basic("x-access-token", secrets.GIT_TOKEN),
  "/npm/": `Bearer ${secrets.NPM_TOKEN}`,
  "/v2/": basic("robot", secrets.REGISTRY_PASSWORD),
};

/** An API, a git host, a registry of npm and a registry of images that ask for a credential, and repeat it in their answers. */
async function openServices() {
  const folder = await temporaryDirectory();
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(folder.path, "shop.git")]);
  const tarball = packTool(folder.path);
  const admitted = new Set<string>();
  const server = await serveHttp(folder.path, (request, response) => {
    const service = Object.keys(credentials).find((path) => request.url?.startsWith(path)) ?? "";
    if (request.headers.authorization !== credentials[service]) return refuse(request, response);
    admitted.add(service);
    if (service === "/shop.git") return false;
    response.end(service === "/npm/" ? npmAnswer(server.url, request, tarball) : `welcome, ${credentials[service]}\n`);
    return true;
  });
  onTestFinished(async () => {
    await server.close();
    await folder.remove();
  });
  const pushed = () =>
    execFileSync("git", ["-C", join(folder.path, "shop.git"), "log", "--format=%s", "main"]).toString();
  return { url: server.url, host: new URL(server.url).host, admitted, pushed };
}

function refuse({ headers }: IncomingMessage, response: ServerResponse): true {
  response.writeHead(401, { "www-authenticate": 'Basic realm="services"' });
  response.end(`not with ${headers.authorization}\n`);
  return true;
}

function packTool(folder: string): Buffer {
  const directory = join(folder, "package");
  mkdirSync(directory);
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "tool", version: "1.0.0", main: "index.js" }));
  writeFileSync(join(directory, "index.js"), 'module.exports = "the tool works";');
  execFileSync("tar", ["-czf", join(folder, "tool.tgz"), "-C", folder, "package"]);
  return readFileSync(join(folder, "tool.tgz"));
}

function npmAnswer(url: string, request: IncomingMessage, tarball: Buffer): Buffer | string {
  if (request.url?.endsWith(".tgz")) return tarball;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const version = { name: "tool", version: "1.0.0", dist: { tarball: `${url}/npm/tool/-/tool-1.0.0.tgz`, integrity } };
  return JSON.stringify({ name: "tool", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
}

/** The services are on this machine, which commands otherwise do not reach through the proxy. */
const throughProxy = "export no_proxy= NO_PROXY=";

const uses = ({ url, host }: { url: string; host: string }) => [
  `curl -sS -H "Authorization: Bearer $API_TOKEN" ${url}/api/things`,
  [
    "git init -q -b main work && cd work && echo hello > a.txt && git add a.txt",
    'git -c user.name=a -c user.email=a@example.com commit -qm "From the agent"',
    `helper='!f() { echo username=x-access-token; echo "password=$GIT_TOKEN"; }; f'`,
    `git -c credential.helper= -c credential.helper="$helper" push ${url}/shop.git main 2>&1`,
  ].join(" && "),
  [
    "mkdir -p app && cd app && echo '{}' > package.json",
    `printf '%s\\n' 'registry=${url}/npm/' '//${host}/npm/:_authToken=\${NPM_TOKEN}' > .npmrc`,
    "npm install --no-audit --no-fund --loglevel=http tool 2>&1",
    `node -p 'require("tool")'`,
  ].join(" && "),
  [
    "mkdir -p ~/.docker && umask 077",
    `printf '{"auths":{"${host}":{"auth":"%s"}}}' "$(printf 'robot:%s' "$REGISTRY_PASSWORD" | base64 -w0)" > ~/.docker/config.json`,
    "cat ~/.docker/config.json",
    `auth=$(sed 's/.*"auth":"\\([^"]*\\)".*/\\1/' ~/.docker/config.json)`,
    `curl -sS -H "Authorization: Basic $auth" ${url}/v2/`,
    "rm ~/.docker/config.json",
  ].join(" && "),
];

test("curl with a header, git push, a private registry of npm and the login form of docker work with runtime secrets that nothing shows", async () => {
  const services = await openServices();
  const commands = uses(services).map((cmd) => call("exec_command", { cmd: `${throughProxy}; ${cmd}` }));
  const harness = await openWithSecrets({ replies: [...commands, replyWith("Done.")] }, secrets);
  const allowlist = [services.host];
  await harness.client.send("PATCH", "/v1/team/settings", {
    egress: { mode: "allowlist_only", allowlist, locked: false },
  });
  const ids = await harness.client.create("use them");
  expect(await harness.client.waitForRun(ids)).toMatchObject({ status: "FINISHED" });
  const forms = Object.values(secrets).flatMap((value) => [...formsOf(value), base64(`robot:${value}`)]);
  const sent = await expectNowhere(harness, ids, forms);
  for (const text of [
    "welcome, Bearer [REDACTED]",
    "main -> main",
    "the tool works",
    `welcome, Basic ${base64("robot:")}[REDACTED]`,
  ])
    expect(sent).toContain(text);
  expect([...services.admitted].sort()).toEqual(Object.keys(credentials).sort());
  expect(services.pushed()).toBe("From the agent\n");
});
