// Follows HTTP redirects of a repository that has moved. Each target is checked before it is contacted.
import type { NetworkPolicy } from "../../foundation/index.ts";
import type { Authorization } from "./host-credentials.ts";
import { sendPinned } from "./pinned-request.ts";
import { type RepositoryUrl, readRepositoryUrl, urlText } from "./repository-url.ts";

const infoRefsPath = "/info/refs?service=git-upload-pack";
const maxRedirects = 5;

export interface RedirectOptions {
  policy: NetworkPolicy;
  authorization: Authorization | undefined;
}

export type Redirected =
  | { kind: "moved"; url: RepositoryUrl }
  | { kind: "not moved" }
  /** To an address that is not one of a repository, without its query. */
  | { kind: "elsewhere"; location: string };

export async function followRedirects(
  url: RepositoryUrl,
  options: RedirectOptions,
  signal: AbortSignal,
): Promise<Redirected> {
  let current = url;
  for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
    const { location } = await requestReferences(current, options, signal);
    if (location === undefined) return current === url ? { kind: "not moved" } : { kind: "moved", url: current };
    const next = readRedirect(current, location);
    if (next === undefined) return { kind: "elsewhere", location: shownLocation(current, location) };
    current = next;
  }
  return { kind: "not moved" };
}

function shownLocation(from: RepositoryUrl, location: string): string {
  if (!URL.canParse(location, urlText(from))) return "an invalid address";
  const { origin, pathname } = new URL(location, urlText(from));
  return `${origin}${pathname}`.slice(0, 300);
}

/** Never from https to http. */
function readRedirect(from: RepositoryUrl, location: string): RepositoryUrl | undefined {
  const target = URL.canParse(location, urlText(from)) ? new URL(location, urlText(from)).href : "";
  if (!target.endsWith(infoRefsPath)) return undefined;
  const read = readRepositoryUrl(target.slice(0, -infoRefsPath.length));
  if (read.kind === "refused" || !/^https?$/.test(read.url.scheme)) return undefined;
  return from.scheme === "https" && read.url.scheme === "http" ? undefined : read.url;
}

export interface ReferencesAnswer {
  status: number;
  /** Of a redirect. */
  location: string | undefined;
  contentType: string;
  /** How the host wants to be authenticated to; empty if it does not say. */
  challenge: string;
}

/** Requests what git requests first, and returns how the host answers. */
export async function requestReferences(
  url: RepositoryUrl,
  { policy, authorization }: RedirectOptions,
  signal: AbortSignal,
): Promise<ReferencesAnswer> {
  const isSameOrigin = authorization !== undefined && new URL(urlText(url)).origin === authorization.origin;
  const headers: Record<string, string> = isSameOrigin ? { authorization: authorization.value } : {};
  const response = await sendPinned(url, { path: `${url.path}${infoRefsPath}`, headers, policy }, signal);
  const { statusCode: status = 0, headers: answered } = response;
  response.on("error", () => {}).destroy();
  return {
    status,
    location: [301, 302, 303, 307, 308].includes(status) ? answered.location : undefined,
    contentType: (answered["content-type"] ?? "").slice(0, 100),
    challenge: answered["www-authenticate"] ?? "",
  };
}
