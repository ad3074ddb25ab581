// The repositories of a git host that a credential may push to. GitHub, GitLab, Gitea and Forgejo have an API that lists them;
// git itself has none.
import type { IncomingMessage } from "node:http";
import { hostText, readHost } from "@agentcli/workspace/hosts";
import type { NetworkPolicy } from "../../foundation/index.ts";
import { RepositoryFault } from "../git/index.ts";
import { sendPinned } from "./pinned-request.ts";
import type { RepositoryUrl } from "./repository-url.ts";

/** A credential for a host over HTTP. */
export interface ListingAccess {
  /** Its path is not used. */
  host: RepositoryUrl;
  /** Undefined for a token. */
  user: string | undefined;
  value: string;
}

export type Offered =
  /** Paths without a leading slash, such as `group/project`. Empty if the host has no such API. */
  { kind: "paths"; paths: string[] } | { kind: "refused" } | { kind: "failed"; reason: string };

const timeoutMs = 30_000;
const maxPages = 40;
const maxPageBytes = 4 * 1024 * 1024;

export async function listOffered(access: ListingAccess, policy: NetworkPolicy, signal: AbortSignal): Promise<Offered> {
  const limit = AbortSignal.timeout(timeoutMs);
  const timed = AbortSignal.any([signal, limit]);
  try {
    const answers: Listed["kind"][] = [];
    for (const api of apisOf(access.host)) {
      const answer = await listWith(api, { access, policy }, timed);
      if (answer.kind === "paths" || answer.kind === "failed") return answer;
      answers.push(answer.kind);
    }
    return isRefusal(answers) ? { kind: "refused" } : { kind: "paths", paths: [] };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RepositoryFault) return { kind: "failed", reason: error.message.replace(/\.$/, "") };
    return { kind: "failed", reason: limit.aborted ? "did not answer in time" : "could not be reached" };
  }
}

/** A web server that asks for a password at every path, and not as an API does, has none: git may be allowed all the same. */
const isRefusal = (answers: Listed["kind"][]): boolean =>
  answers.includes("refused") || (answers.includes("locked") && answers.includes("no api"));

interface ListApi {
  host: RepositoryUrl;
  path(page: number): string;
  headers(access: ListingAccess): Record<string, string>;
  /** Undefined for a repository that cannot be pushed to. */
  pathOf(entry: Record<string, unknown>): unknown;
}

function apisOf(host: RepositoryUrl): ListApi[] {
  const github = { headers: authorization, pathOf: pushable };
  const query = (page: number) => `per_page=100&page=${page}`;
  // The only host whose API is on another one.
  const githubApi = hostText(host.host) === "github.com" ? readHost("api.github.com") : undefined;
  if (githubApi)
    return [{ ...github, host: { ...host, host: githubApi }, path: (page) => `/user/repos?${query(page)}` }];
  return [
    {
      host,
      path: (page) => `/api/v4/projects?membership=true&min_access_level=30&archived=false&simple=true&${query(page)}`,
      headers: ({ value }) => ({ "private-token": value }),
      pathOf: ({ path_with_namespace }) => path_with_namespace,
    },
    { ...github, host, path: (page) => `/api/v1/user/repos?limit=50&page=${page}` },
    { ...github, host, path: (page) => `/api/v3/user/repos?${query(page)}` },
  ];
}

const authorization = ({ user, value }: ListingAccess) => ({
  authorization: user === undefined ? `Bearer ${value}` : `Basic ${Buffer.from(`${user}:${value}`).toString("base64")}`,
});

const pushable = ({ full_name, permissions, archived }: Record<string, unknown>) =>
  (permissions as { push?: unknown } | null)?.push === true && archived !== true ? full_name : undefined;

/** `locked`: refused, and not with JSON. */
type Listed = Offered | { kind: "no api" } | { kind: "locked" };

async function listWith(
  api: ListApi,
  { access, policy }: { access: ListingAccess; policy: NetworkPolicy },
  signal: AbortSignal,
): Promise<Listed> {
  const paths: string[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const request = { path: api.path(page), headers: { accept: "application/json", ...api.headers(access) }, policy };
    const read = await readPage(await sendPinned(api.host, request, signal));
    if (!Array.isArray(read)) return read;
    paths.push(...read.map((entry) => api.pathOf(entry)).filter(isPath));
    if (read.length === 0) break;
  }
  return { kind: "paths", paths };
}

type Entry = Record<string, unknown>;

async function readPage(response: IncomingMessage): Promise<Entry[] | Exclude<Listed, { kind: "paths" }>> {
  const { statusCode = 0, headers } = response;
  if (statusCode === 200) return (await readEntries(response)) ?? { kind: "no api" };
  response.on("error", () => {}).destroy();
  if (statusCode === 401 || statusCode === 403)
    return { kind: /json/i.test(headers["content-type"] ?? "") ? "refused" : "locked" };
  if (statusCode === 429 || statusCode >= 500) return { kind: "failed", reason: `answered ${statusCode}` };
  return { kind: "no api" };
}

/** Undefined if the body is not a list, such as a web page. */
async function readEntries(response: IncomingMessage): Promise<Entry[] | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > maxPageBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return Array.isArray(body) ? body.filter((entry) => typeof entry === "object" && entry !== null) : undefined;
  } catch {
    return undefined;
  }
}

const isPath = (path: unknown): path is string =>
  typeof path === "string" && path.length < 1_000 && /^[\w.-]+(?:\/[\w.-]+)+$/.test(path);
