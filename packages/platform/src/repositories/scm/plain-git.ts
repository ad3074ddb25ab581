// A repository of which only the URL is known: it supports fetch and push, nothing else.
import { GitFailed, type GitRemote, GitTookTooLong, RepositoryFault } from "../git/index.ts";
import { type PinOptions, pinnedRemote } from "./pinned-address.ts";
import { type Authorization, followRedirects } from "./redirects.ts";
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
          const moved = isRedirect(error) ? await redirectTarget(url, options, signal) : undefined;
          if (moved === undefined) throw error;
          return attempt(moved);
        });
      } catch (error) {
        throw faultOf(error, url);
      }
    },
  };
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

const redirectTarget = async (url: RepositoryUrl, options: GitAccess, signal: AbortSignal) =>
  followRedirects(url, { policy: options.policy, authorization: await options.authorization?.(signal) }, signal);

const isRedirect = (error: unknown) => error instanceof GitFailed && /returned error: 30\d/.test(error.stderr);

/** Messages of git that mean the repository cannot be reached; other errors are passed to the caller. */
const reasons: [RegExp, string][] = [
  [
    /could not read Username|Authentication failed|returned error: 40[13]|Permission denied|Host key verification/i,
    "asks for credentials that the platform does not have. Check that it is public, or that the platform was given access",
  ],
  [
    /returned error: 404|not found|not appear to be a git repository|access denied or repository not exported/i,
    "does not exist, or the platform may not see it. Check the address",
  ],
  [/fsck error in packed object/, "has objects that git considers damaged or dangerous. Run git fsck on it"],
  [/returned error: 30\d/, "redirects to an address that the platform may not follow. Use its current address"],
  [/returned error: 5\d\d/, "is on a host that is failing. Try again later"],
  [
    /resolve host|failed to connect|couldn't connect|connection (?:refused|reset|timed out|closed)|timed out|unable to connect|no route to host|network is unreachable|operation too slow|early EOF|hung up|unexpected disconnect|SSL|TLS|certificate|not valid: is this a git repository|protocol error|RPC failed/i,
    "could not be reached",
  ],
];

function faultOf(error: unknown, url: RepositoryUrl): unknown {
  const unreachable = (what: string) =>
    new RepositoryFault("repository_unreachable", `The repository ${shownUrl(url)} ${what}.`, { cause: error });
  if (error instanceof GitTookTooLong) return unreachable("did not answer in time. Try again later");
  if (!(error instanceof GitFailed)) return error;
  const reason = reasons.find(([pattern]) => pattern.test(error.stderr));
  return reason === undefined ? error : unreachable(reason[1]);
}
