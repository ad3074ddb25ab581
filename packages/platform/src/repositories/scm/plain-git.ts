// A repository of which only the URL is known: it supports fetch and push, nothing else.
import { GitFailed, type GitRemote, GitTookTooLong, RepositoryFault } from "../git/index.ts";
import { describeGitFailure, notGit, redirectedElsewhere, refusedCredential } from "./git-failures.ts";
import type { Authorization, CredentialLabel, HostCredentials } from "./host-credentials.ts";
import { describeHostKey, isHostKeyRefused } from "./host-key.ts";
import { type PinOptions, pinnedRemote } from "./pinned-address.ts";
import { redactError } from "./redact-error.ts";
import { followRedirects, type RedirectOptions, requestReferences } from "./redirects.ts";
import { type RepositoryUrl, shownUrl } from "./repository-url.ts";
import type { SourceHost } from "./source-host.ts";
import { openSshSession } from "./ssh-session.ts";

export interface GitAccess extends PinOptions {
  /** Why this URL must not be accessed; undefined if it may. Also called for each URL that a repository has moved to. */
  refusal(url: RepositoryUrl): Promise<string | undefined>;
  /** A header for this origin only; not sent to other origins that a repository has moved to. */
  authorization?(signal: AbortSignal): Promise<Authorization | undefined>;
  /** Of the team; absent if the host is accessed in another way. */
  credentials?: HostCredentials;
}

export function plainGitHost(url: RepositoryUrl, options: GitAccess): SourceHost {
  const access: GitAccess = {
    authorization: async (signal) => options.credentials?.authorization(url, signal),
    ...options,
  };
  return {
    directory: null,
    pullRequests: null,
    checks: null,
    inquiries: null,
    mintToken: null,
    hooks: null,
    notePush: async () => {},
    async reach(work, signal) {
      const attempt = (target: RepositoryUrl) => withRemote(target, access, { work, signal });
      try {
        return await attempt(url).catch(async (error: unknown) => {
          if (!isRedirect(error)) throw error;
          const redirected = await probe(url, access, { ask: followRedirects, signal });
          if (redirected.kind === "elsewhere") throw unreachable(url, redirectedElsewhere(redirected.location), error);
          if (redirected.kind === "not moved") throw error;
          return attempt(redirected.url);
        });
      } catch (error) {
        throw await faultOf(error, url, access);
      }
    },
    async assertGit(signal) {
      if (!/^https?$/.test(url.scheme)) return;
      const { contentType } = await probe(url, access, { ask: requestReferences, signal });
      if (/html|json|xml/i.test(contentType)) throw unreachable(url, notGit(contentType));
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

interface Work<T> {
  work(remote: GitRemote): Promise<T>;
  signal: AbortSignal;
}

async function withRemote<T>(url: RepositoryUrl, options: GitAccess, { work, signal }: Work<T>): Promise<T> {
  const reason = await options.refusal(url);
  if (reason !== undefined)
    throw new RepositoryFault("repository_access", `The repository ${shownUrl(url)} ${reason}.`);
  if (url.scheme === "ssh") return withSsh(url, options, { work, signal });
  const remote = await pinnedRemote(url, options, signal);
  const authorization = await options.authorization?.(signal);
  if (authorization === undefined) return work(remote);
  const header: [string, string] = [
    `http.${authorization.origin}/.extraHeader`,
    `Authorization: ${authorization.value}`,
  ];
  try {
    return await work({ ...remote, config: [...remote.config, header] });
  } catch (error) {
    throw refused(redactError(error, authorization.secrets ?? []), url, authorization.credential);
  }
}

async function withSsh<T>(url: RepositoryUrl, options: GitAccess, { work, signal }: Work<T>): Promise<T> {
  const credentials = (await options.credentials?.ssh(url)) ?? { key: undefined, hostKeys: undefined };
  const session = await openSshSession(url, { ...options, credentials }, signal);
  try {
    return await work(session.remote);
  } catch (error) {
    if (isHostKeyRefused(error))
      throw unreachable(url, await describeHostKey(url, { ...options, session }, signal), error);
    throw refused(error, url, credentials.key?.credential);
  } finally {
    await session.close();
  }
}

const isRedirect = (error: unknown) => error instanceof GitFailed && /returned error: 30\d/.test(error.stderr);

const unreachable = (url: RepositoryUrl, what: string, cause?: unknown) =>
  new RepositoryFault("repository_unreachable", `The repository ${shownUrl(url)} ${what}.`, { cause });

/** The host does not accept the credential that was used. */
export class CredentialFault extends RepositoryFault {
  override name = "CredentialFault";
  readonly credential: CredentialLabel;

  constructor(message: string, credential: CredentialLabel, options?: ErrorOptions) {
    super("repository_unreachable", message, options);
    this.credential = credential;
  }
}

function refused(error: unknown, url: RepositoryUrl, credential: CredentialLabel | undefined): unknown {
  const what = credential && error instanceof GitFailed ? refusedCredential(error.stderr, credential) : undefined;
  if (credential === undefined || what === undefined) return error;
  return new CredentialFault(`The repository ${shownUrl(url)} ${what}.`, credential, { cause: error });
}

/** Whatever git could not do with the host is the host's answer; failures of this machine are passed to the caller. */
async function faultOf(error: unknown, url: RepositoryUrl, { credentials }: GitAccess): Promise<unknown> {
  if (error instanceof GitTookTooLong) return unreachable(url, "did not answer in time. Try again later", error);
  if (!(error instanceof GitFailed)) return error;
  const kind = url.scheme === "ssh" ? "ssh_key" : "token";
  const setCommand = url.scheme === "git" ? undefined : await credentials?.setCommand(url, kind);
  const what = describeGitFailure(error.stderr, setCommand);
  return what === undefined ? error : unreachable(url, what, error);
}
