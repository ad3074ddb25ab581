// A pretended GitHub on loopback: API and git under one address. Each request is held against the official description.
import { generateKeyPairSync } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { OpenAPIBackend } from "openapi-backend";
import { answerWithGit } from "../git-backend.ts";
import { temporaryDirectory, temporaryRepository } from "../temporary.ts";
import { readDescription } from "./description.ts";
import type { Answer } from "./desk.ts";
import { operationsOf } from "./operations.ts";
import { openShapes } from "./shapes.ts";
import { type FakeRepository, type GithubState, gitIn, Refusal, type Surprise } from "./state.ts";
import { addGrant, findGrant } from "./tokens.ts";
import { answerWeb, client } from "./web.ts";

export interface FakeGithub extends Pick<GithubState, "url" | "grants" | "asked" | "complaints"> {
  /** Of the API, as an enterprise server has it. */
  apiUrl: string;
  app: { id: string; privateKey: string; client: { id: string; secret: string } };
  /** Tokens that are given from now on end after so long. */
  shortenTokens(lifeMs: number): void;
  /** Who sits before the browser from now on. */
  sitDown(login: string): void;
  /** What the app was installed with, from now on. */
  grantApp(permissions: Record<string, string>): void;
  /** `owner/name`, with one commit on main. */
  addRepository(
    fullName: string,
    more?: { files?: Record<string, string>; collaborators?: string[] },
  ): Promise<FakeRepository>;
  /** A token of a person, good for everything that the person may do. */
  addToken(login: string): string;
  surprise(surprise: Surprise): void;
  close(): Promise<void>;
}

/** `description` is a file with the official one; an excerpt where none is named. */
export async function startGithub(options: { description?: string } = {}): Promise<FakeGithub> {
  const home = await temporaryDirectory();
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const state: GithubState = {
    url: "",
    appId: "4711",
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    repositories: [],
    grants: [],
    asked: [],
    complaints: [],
    surprises: [],
    tokenLifeMs: 3_600_000,
    person: "ada",
    codes: new Map(),
    moves: new Map(),
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
    asked: state.asked,
    complaints: state.complaints,
    // PKCS #1, as GitHub hands them out.
    app: { id: state.appId, privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(), client },
    shortenTokens(lifeMs) {
      state.tokenLifeMs = lifeMs;
    },
    sitDown(login) {
      state.person = login;
    },
    grantApp(permissions) {
      state.appPermissions = permissions;
    },
    addRepository: (fullName, more = {}) => addRepository({ state, root: home.path }, fullName, more),
    addToken: (login) => addGrant(state, { kind: "person", login, repositories: null, permissions: everything }).token,
    surprise: (surprise) => state.surprises.push(surprise),
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
  for (const [operation, carryOut] of Object.entries(operations)) api.register(operation, carryOut);
  api.register("validationFail", (context) => {
    const { method, path } = context.request;
    state.complaints.push(`${method} ${path}: ${JSON.stringify(context.validation.errors)}`);
    throw new Refusal(422, "Invalid request");
  });
  api.register("notFound", (context) => {
    state.complaints.push(`${context.request.method} ${context.request.path} is not in the description`);
    throw new Refusal(404, "Not Found");
  });
  return api;
}

interface Serving {
  state: GithubState;
  api: OpenAPIBackend;
  root: string;
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.startsWith("/api/v3/")) return answerApi(serving, request, response);
  if (!(await answerWeb(serving.state, request, response))) await answerGit(serving, request, response);
}

async function answerApi({ state, api }: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
  const [path = "", query = ""] = (request.url ?? "").slice("/api/v3".length).split("?");
  const moved = movedTo(state, path);
  if (moved !== undefined) {
    const location = `${state.url}/api/v3${moved}${query && `?${query}`}`;
    return void response.writeHead(request.method === "GET" ? 301 : 307, { location }).end();
  }
  const asked = { method: request.method ?? "", path, query, body, headers: request.headers as Record<string, string> };
  const operation = api.matchOperation(asked)?.operationId ?? "none";
  const index = state.surprises.findIndex((surprise) => surprise.operation === operation);
  const [surprise] = index < 0 ? [] : state.surprises.splice(index, 1);
  const answer = typeof surprise?.answer === "object" ? surprise.answer : await carryOut(api, asked);
  state.asked.push({ operation, path, status: answer.status, body });
  complainOf(answer, { state, api, operation });
  if (surprise?.answer === "carry out, then hang up") return void request.socket.destroy();
  const headers = typeof surprise?.answer === "object" ? surprise.answer.headers : {};
  response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...headers });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}

/** By its present name; undefined where it was not renamed. */
function movedTo({ moves }: GithubState, path: string): string | undefined {
  const [, name = "", rest = ""] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  const present = moves.get(name);
  return present && `/repos/${present}${rest}`;
}

async function carryOut(api: OpenAPIBackend, asked: Parameters<OpenAPIBackend["handleRequest"]>[0]): Promise<Answer> {
  try {
    return await api.handleRequest(asked);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, message, errors } = error;
    const documentation_url = "https://docs.github.com/rest";
    return { status, body: { message, documentation_url, ...(errors.length > 0 && { errors }) } };
  }
}

/** What we made up must be as good as what was asked. Refusals are in the words of GitHub, which are not all described. */
function complainOf(
  { status, body }: Answer,
  { state, api, operation }: { state: GithubState; api: OpenAPIBackend; operation: string },
): void {
  if (operation === "none" || status >= 300 || status === 204) return;
  const { valid, errors } = api.validateResponse(body, operation, status);
  if (!valid) state.complaints.push(`our answer to ${operation}: ${JSON.stringify(errors)}`);
}

async function answerGit({ state, root }: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, owner, name] = /^\/([^/]+)\/([^/]+)\.git\//.exec(request.url ?? "") ?? [];
  const repository = state.repositories.find((one) => one.owner === owner && one.name === name);
  const grant = findGrant(state, request.headers.authorization);
  const refuse = (status: number, text: string, headers = {}) => response.writeHead(status, headers).end(text);
  if (grant === undefined)
    return void refuse(401, "Repository not found.", { "www-authenticate": 'Basic realm="GitHub"' });
  const moved = state.moves.get(`${owner}/${name}`);
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
    takesDrafts: true,
    pulls: [],
    checks: [],
    git: gitIn(directory),
    async rename(newName) {
      const former = `${repository.owner}/${repository.name}`;
      const [newOwner = "", newRepo = ""] = newName.split("/");
      await mkdir(join(root, newOwner), { recursive: true });
      await rename(repository.directory, join(root, newOwner, `${newRepo}.git`));
      const place = join(root, newOwner, `${newRepo}.git`);
      // A token is for the repository, whatever it is called, as long as its owner is the same.
      const isSameOwner = newOwner === repository.owner;
      for (const { repositories } of state.grants)
        repositories?.forEach((name, index) => {
          if (name === repository.name) repositories[index] = isSameOwner ? newRepo : "";
        });
      Object.assign(repository, { owner: newOwner, name: newRepo, directory: place, git: gitIn(place) });
      state.moves.set(former, newName);
    },
  };
  state.repositories.push(repository);
  await repository.git("config", "core.logAllRefUpdates", "always");
  return repository;
}
