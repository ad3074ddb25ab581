// A repository of which no more is known than its address: it can be fetched from and pushed to.
import { GitFailed, type GitRemote, GitTookTooLong, RepositoryFault } from "../git/index.ts";
import { type Authorization, findMoved } from "./moved.ts";
import { type PinOptions, pinnedRemote } from "./pinned.ts";
import { type RepositoryUrl, shownUrl } from "./repository-url.ts";
import type { SourceHost } from "./source-host.ts";

export interface GitAccess extends PinOptions {
  /** Why this place must not be reached; undefined where it may. Asked for every place a repository has moved to as well. */
  refusal(place: RepositoryUrl): Promise<string | undefined>;
  /** A header for this one place, and for nowhere else that a repository may have moved to. */
  authorization?(signal: AbortSignal): Promise<Authorization>;
}

export function plainGitHost(url: RepositoryUrl, options: GitAccess): SourceHost {
  return {
    directory: null,
    pullRequests: null,
    checks: null,
    notePush: async () => {},
    async reach(work, signal) {
      const attempt = async (place: RepositoryUrl) => work(await allowedRemote(place, options, signal));
      try {
        return await attempt(url).catch(async (error: unknown) => {
          const moved = isRedirection(error) ? await whereTo(url, options, signal) : undefined;
          if (moved === undefined) throw error;
          return attempt(moved);
        });
      } catch (error) {
        throw faultOf(error, url);
      }
    },
  };
}

async function allowedRemote(place: RepositoryUrl, options: GitAccess, signal: AbortSignal): Promise<GitRemote> {
  const reason = await options.refusal(place);
  if (reason !== undefined)
    throw new RepositoryFault("repository_access", `The repository ${shownUrl(place)} ${reason}.`);
  const remote = await pinnedRemote(place, options, signal);
  const given = await options.authorization?.(signal);
  if (given === undefined) return remote;
  const header: [string, string] = [`http.${given.origin}/.extraHeader`, `Authorization: ${given.value}`];
  return { ...remote, config: [...remote.config, header] };
}

const whereTo = async (url: RepositoryUrl, options: GitAccess, signal: AbortSignal) =>
  findMoved(url, { policy: options.policy, authorization: await options.authorization?.(signal) }, signal);

const isRedirection = (error: unknown) => error instanceof GitFailed && /returned error: 30\d/.test(error.said);

/** What says that the repository cannot be reached; everything else is for whoever asked. */
const reasons: [RegExp, string][] = [
  [
    /could not read Username|Authentication failed|returned error: 40[13]|Permission denied|Host key verification/i,
    "asks for credentials that the platform does not have. Check that it is public, or that the platform was given access",
  ],
  [
    /returned error: 404|not found|not appear to be a git repository|access denied or repository not exported/i,
    "does not exist, or the platform may not see it. Check the address",
  ],
  [/fsck error in packed object/, "has objects that git takes for damaged or dangerous. Run git fsck on it"],
  [/returned error: 30\d/, "has moved, and not to a place the platform may follow to. Use its present address"],
  [/returned error: 5\d\d/, "is on a host that fails at present. Try again later"],
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
  const reason = reasons.find(([pattern]) => pattern.test(error.said));
  return reason === undefined ? error : unreachable(reason[1]);
}
