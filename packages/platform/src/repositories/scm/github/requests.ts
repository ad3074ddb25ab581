// API requests about one repository, on behalf of the platform or of a person.
import type { Endpoints } from "@octokit/types";
import type { PersonalAccess } from "../source-host.ts";
import { GithubRefusal } from "./api.ts";
import type { GithubRepository } from "./repository.ts";

type Route = keyof Endpoints;
export type RepositoryRequest = <R extends Route>(
  route: R,
  parameters: Omit<Endpoints[R]["parameters"], "owner" | "repo">,
) => Promise<Endpoints[R]["response"]["data"]>;

const totalTimeoutMs = 120_000;

/** With a token of the platform. If GitHub rejects it before it expires, it is replaced once. */
export function requestAsPlatform(
  { api, credentials, repository }: GithubRepository,
  signal: AbortSignal,
): RepositoryRequest {
  return (route, parameters) =>
    withTimeout(signal, async (timed) => {
      const attempt = async () => {
        const token = await credentials.token(repository, timed);
        return api.request({ route, parameters: { ...parameters, ...repository } as never, token }, timed);
      };
      return attempt().catch((error) => {
        if (!isUnknownToken(error) || !credentials.forget(repository)) throw error;
        return attempt();
      });
    });
}

/** With a token of the person. If GitHub rejects it, another server may have just renewed it; otherwise it was revoked. */
export function requestAsPerson(
  { api, repository }: GithubRepository,
  person: PersonalAccess,
  signal: AbortSignal,
): RepositoryRequest {
  return (route, parameters) =>
    withTimeout(signal, async (timed) => {
      const attempt = (token: string) =>
        api.request({ route, parameters: { ...parameters, ...repository } as never, token }, timed);
      const token = await person.token();
      return attempt(token)
        .catch(async (error) => {
          const currentToken = isUnknownToken(error) ? await person.token() : token;
          if (currentToken === token) throw error;
          return attempt(currentToken);
        })
        .catch((error) => {
          throw isUnknownToken(error) ? person.disconnected(error) : error;
        });
    });
}

/** Limits the total time, including waits for rate limits. */
async function withTimeout<T>(signal: AbortSignal, work: (timed: AbortSignal) => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(totalTimeoutMs);
  try {
    return await work(AbortSignal.any([signal, limit]));
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted || error instanceof GithubRefusal) throw error;
    throw new GithubRefusal(0, "there was no answer in time", { cause: error });
  }
}

const isUnknownToken = (error: unknown): boolean => error instanceof GithubRefusal && error.status === 401;
