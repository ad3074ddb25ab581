// A fake GitHub on loopback: API and git under one address. Each request is validated against the official description.
import { generateKeyPairSync } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { OpenAPIBackend } from "openapi-backend";
import { answerWithGit } from "../git/http-backend.ts";
import { temporaryDirectory, temporaryRepository } from "../temporary.ts";
import { readDescription } from "./description.ts";
import { operationsOf } from "./operations.ts";
import type { OperationResult } from "./request.ts";
import { openShapes } from "./shapes.ts";
import { type FakeRepository, GithubError, type GithubState, gitIn, type PlannedResponse } from "./state.ts";
import { addGrant, findGrant } from "./tokens.ts";
import { answerWeb, client } from "./web.ts";

export interface FakeGithub
  extends Pick<GithubState, "url" | "grants" | "accounts" | "deliveries" | "requests" | "violations"> {
  /** Of the API, as an enterprise server has it. */
  apiUrl: string;
  app: { id: string; privateKey: string; client: { id: string; secret: string } };
  /** Lifetime of tokens issued from now on. */
  shortenTokens(lifeMs: number): void;
  /** The user of the browser from now on. */
  signInAs(login: string): void;
  /** Permissions of the installed app from now on. */
  grantApp(permissions: Record<string, string>): void;
  /** `owner/name`, with one commit on main. */
  addRepository(
    fullName: string,
    more?: { files?: Record<string, string>; collaborators?: string[] },
  ): Promise<FakeRepository>;
  /** A token with all permissions of a user. */
  addToken(login: string): string;
  planResponse(planResponse: PlannedResponse): void;
  close(): Promise<void>;
}

/** `description` is a file with the official description; an excerpt of it unless given. */
export async function startGithub(options: { description?: string } = {}): Promise<FakeGithub> {
  const home = await temporaryDirectory();
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const state: GithubState = {
    url: "",
    appId: "4711",
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    repositories: [],
    grants: [],
    accounts: [],
    deliveries: [],
    requests: [],
    violations: [],
    plannedResponses: [],
    tokenLifeMs: 3_600_000,
    user: "ada",
    codes: new Map(),
    renames: new Map(),
    appPermissions: { ...everything, checks: "write" },
  };
  const api = await openApi(state, options.description);
  const server = createServer((request, response) => {
    void answer({ state, api, root: home.path }, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: state.url,
    apiUrl: `${state.url}/api/v3`,
    grants: state.grants,
    accounts: state.accounts,
    deliveries: state.deliveries,
    requests: state.requests,
    violations: state.violations,
    // PKCS #1, as GitHub issues them.
    app: { id: state.appId, privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(), client },
    shortenTokens(lifeMs) {
      state.tokenLifeMs = lifeMs;
    },
    signInAs(login) {
      state.user = login;
    },
    grantApp(permissions) {
      state.appPermissions = permissions;
    },
    addRepository: (fullName, more = {}) => addRepository({ state, root: home.path }, fullName, more),
    addToken: (login) => addGrant(state, { kind: "person", login, repositories: null, permissions: everything }).token,
    planResponse: (surprise) => state.plannedResponses.push(surprise),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await home.remove();
    },
  };
}

const everything = { contents: "write", pull_requests: "write", metadata: "read" };

async function openApi(state: GithubState, description: string | undefined): Promise<OpenAPIBackend> {
  const api = new OpenAPIBackend({
    definition: readDescription(description),
    quick: true,
    ajvOpts: { strict: false, validateFormats: false },
  });
  await api.init();
  const operations = operationsOf(state, openShapes(api, state));
  for (const [operation, handler] of Object.entries(operations)) api.register(operation, handler);
  api.register("validationFail", (context) => {
    const { method, path } = context.request;
    state.violations.push(`${method} ${path}: ${JSON.stringify(context.validation.errors)}`);
    throw new GithubError(422, "Invalid request");
  });
  api.register("notFound", (context) => {
    state.violations.push(`${context.request.method} ${context.request.path} is not in the description`);
    throw new GithubError(404, "Not Found");
  });
  return api;
}

interface ServerContext {
  state: GithubState;
  api: OpenAPIBackend;
  root: string;
}

async function answer(serving: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.startsWith("/api/v3/")) return answerApi(serving, request, response);
  if (request.url?.startsWith("/job-logs/")) return void response.end(findLog(serving.state, request.url));
  if (!(await answerWeb(serving.state, request, response))) await answerGit(serving, request, response);
}

function findLog({ repositories }: GithubState, path: string): string {
  const [repository, job] = path.slice("/job-logs/".length).split("/").map(Number);
  const jobs = repositories.find(({ id }) => id === repository)?.jobs ?? [];
  return jobs.find(({ id }) => id === job)?.log ?? "";
}

async function answerApi(
  { state, api }: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
  const [path = "", query = ""] = (request.url ?? "").slice("/api/v3".length).split("?");
  const moved = renamedPath(state, path);
  if (moved !== undefined) {
    const location = `${state.url}/api/v3${moved}${query && `?${query}`}`;
    return void response.writeHead(request.method === "GET" ? 301 : 307, { location }).end();
  }
  const call = { method: request.method ?? "", path, query, body, headers: request.headers as Record<string, string> };
  const operation = api.matchOperation(call)?.operationId ?? "none";
  const index = state.plannedResponses.findIndex((surprise) => surprise.operation === operation);
  const [surprise] = index < 0 ? [] : state.plannedResponses.splice(index, 1);
  const answer = typeof surprise?.response === "object" ? surprise.response : await execute(api, call);
  state.requests.push({ operation, path, status: answer.status, body });
  checkResponse(answer, { state, api, operation });
  if (surprise?.response === "execute, then disconnect") return void request.socket.destroy();
  const headers = "headers" in answer ? answer.headers : {};
  response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...headers });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}

/** The path with the current name; undefined where the repository was not renamed. */
function renamedPath({ renames: moves }: GithubState, path: string): string | undefined {
  const [, name = "", rest = ""] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  const present = moves.get(name);
  return present && `/repos/${present}${rest}`;
}

async function execute(
  api: OpenAPIBackend,
  asked: Parameters<OpenAPIBackend["handleRequest"]>[0],
): Promise<OperationResult> {
  try {
    return await api.handleRequest(asked);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    const { status, message, errors } = error;
    const documentation_url = "https://docs.github.com/rest";
    return { status, body: { message, documentation_url, ...(errors.length > 0 && { errors }) } };
  }
}

/** Responses of the fake must fit the description too. Errors are those of GitHub, which does not describe them all. */
function checkResponse(
  { status, body }: OperationResult,
  { state, api, operation }: { state: GithubState; api: OpenAPIBackend; operation: string },
): void {
  if (operation === "none" || status >= 300 || status === 204) return;
  const { valid, errors } = api.validateResponse(body, operation, status);
  if (!valid) state.violations.push(`response to ${operation}: ${JSON.stringify(errors)}`);
}

async function answerGit(
  { state, root }: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, owner, name] = /^\/([^/]+)\/([^/]+)\.git\//.exec(request.url ?? "") ?? [];
  const repository = state.repositories.find((one) => one.owner === owner && one.name === name);
  const grant = findGrant(state, request.headers.authorization);
  const refuse = (status: number, text: string, headers = {}) => response.writeHead(status, headers).end(text);
  if (grant === undefined)
    return void refuse(401, "Repository not found.", { "www-authenticate": 'Basic realm="GitHub"' });
  const moved = state.renames.get(`${owner}/${name}`);
  if (moved !== undefined) {
    const location = `${state.url}${request.url?.replace(`${owner}/${name}`, moved)}`;
    return void response.writeHead(301, { location }).end();
  }
  const isVisible = repository && (grant.repositories === null || grant.repositories.includes(repository.name));
  if (!isVisible) return void refuse(404, "Repository not found.");
  const isPush = request.url?.includes("git-receive-pack") ?? false;
  const mayPush = grant.permissions.contents === "write";
  if (isPush && !mayPush) return void refuse(403, `Permission to ${owner}/${name}.git denied to ${grant.login}.`);
  answerWithGit(root, request, response);
}

async function addRepository(
  { state, root }: { state: GithubState; root: string },
  fullName: string,
  { files, collaborators = [] }: { files?: Record<string, string>; collaborators?: string[] },
): Promise<FakeRepository> {
  const [owner = "", name = ""] = fullName.split("/");
  const origin = await temporaryRepository(files);
  const directory = join(root, owner, `${name}.git`);
  await gitIn(origin.path)("clone", "--quiet", "--bare", origin.path, directory);
  await origin.remove();
  const repository: FakeRepository = {
    id: state.repositories.length + 1,
    owner,
    name,
    directory,
    collaborators,
    isInstalled: true,
    isSuspended: false,
    allowsDrafts: true,
    pulls: [],
    checks: [],
    jobs: [],
    hooks: [],
    git: gitIn(directory),
    async rename(newName) {
      const former = `${repository.owner}/${repository.name}`;
      const [newOwner = "", newRepo = ""] = newName.split("/");
      await mkdir(join(root, newOwner), { recursive: true });
      await rename(repository.directory, join(root, newOwner, `${newRepo}.git`));
      const directory = join(root, newOwner, `${newRepo}.git`);
      // A token stays valid for a renamed repository as long as its owner is the same.
      const isSameOwner = newOwner === repository.owner;
      for (const { repositories } of state.grants)
        repositories?.forEach((name, index) => {
          if (name === repository.name) repositories[index] = isSameOwner ? newRepo : "";
        });
      Object.assign(repository, { owner: newOwner, name: newRepo, directory, git: gitIn(directory) });
      state.renames.set(former, newName);
    },
  };
  state.repositories.push(repository);
  await repository.git("config", "core.logAllRefUpdates", "always");
  return repository;
}
