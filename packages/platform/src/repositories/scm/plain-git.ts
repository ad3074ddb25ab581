// A repository of which only the URL is known: it supports fetch and push, nothing else.
import { GitFailed, type GitRemote, GitTookTooLong, RepositoryFault } from "../git/index.ts";
import { describeGitFailure, redirectedElsewhere, webPage } from "./git-failures.ts";
import { type PinOptions, pinnedRemote } from "./pinned-address.ts";
import { type Authorization, followRedirects, type RedirectOptions, requestReferences } from "./redirects.ts";
import { type RepositoryUrl, shownUrl } from "./repository-url.ts";
import type { SourceHost } from "./source-host.ts";

export interface GitAccess extends PinOptions {
  /** Why this URL must not be accessed; undefined if it may. Also called for each URL that a repository has moved to. */
  refusal(url: RepositoryUrl): Promise<string | undefined>;
  /** A header for this origin only; not sent to other origins that a repository has moved to. */
  authorization?(signal: AbortSignal): Promise<Authorization>;
}

export function plainGitHost(url: RepositoryUrl, options: GitAccess): SourceHost {
  return {
    directory: null,
    pullRequests: null,
    checks: null,
    notePush: async () => {},
    async reach(work, signal) {
      const attempt = async (target: RepositoryUrl) => work(await allowedRemote(target, options, signal));
      try {
        return await attempt(url).catch(async (error: unknown) => {
          if (!isRedirect(error)) throw error;
          const redirected = await probe(url, options, { ask: followRedirects, signal });
          if (redirected.kind === "elsewhere") throw unreachable(url, redirectedElsewhere(redirected.location), error);
          if (redirected.kind === "not moved") throw error;
          return attempt(redirected.url);
        });
      } catch (error) {
        throw faultOf(error, url);
      }
    },
    async assertGit(signal) {
      if (!/^https?$/.test(url.scheme)) return;
      const { contentType } = await probe(url, options, { ask: requestReferences, signal });
      if (/html/i.test(contentType)) throw unreachable(url, webPage(contentType));
    },
  };
}

interface Probe<T> {
  ask(url: RepositoryUrl, options: RedirectOptions, signal: AbortSignal): Promise<T>;
  signal: AbortSignal;
}

/** Asks the host without git. A host that does not answer is unreachable. */
async function probe<T>(url: RepositoryUrl, options: GitAccess, { ask, signal }: Probe<T>): Promise<T> {
  const authorization = await options.authorization?.(signal);
  try {
    return await ask(url, { policy: options.policy, authorization }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RepositoryFault) throw error;
    throw unreachable(url, "could not be reached: its host did not answer. Try again later", error);
  }
}

async function allowedRemote(url: RepositoryUrl, options: GitAccess, signal: AbortSignal): Promise<GitRemote> {
  const reason = await options.refusal(url);
  if (reason !== undefined)
    throw new RepositoryFault("repository_access", `The repository ${shownUrl(url)} ${reason}.`);
  const remote = await pinnedRemote(url, options, signal);
  const authorization = await options.authorization?.(signal);
  if (authorization === undefined) return remote;
  const header: [string, string] = [
    `http.${authorization.origin}/.extraHeader`,
    `Authorization: ${authorization.value}`,
  ];
  return { ...remote, config: [...remote.config, header] };
}

const isRedirect = (error: unknown) => error instanceof GitFailed && /returned error: 30\d/.test(error.stderr);

const unreachable = (url: RepositoryUrl, what: string, cause?: unknown) =>
  new RepositoryFault("repository_unreachable", `The repository ${shownUrl(url)} ${what}.`, { cause });

/** Whatever git could not do with the host is the host's answer; failures of this machine are passed to the caller. */
function faultOf(error: unknown, url: RepositoryUrl): unknown {
  if (error instanceof GitTookTooLong) return unreachable(url, "did not answer in time. Try again later", error);
  if (!(error instanceof GitFailed)) return error;
  const what = describeGitFailure(error.stderr);
  return what === undefined ? error : unreachable(url, what, error);
}
