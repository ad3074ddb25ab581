// Questions about one repository, in the name of the platform or of a person.
import type { Endpoints } from "@octokit/types";
import type { PersonalAccess } from "../source-host.ts";
import { GithubRefusal } from "./api.ts";
import type { GithubRepository } from "./host.ts";

type Route = keyof Endpoints;
export type Ask = <R extends Route>(
  route: R,
  parameters: Omit<Endpoints[R]["parameters"], "owner" | "repo">,
) => Promise<Endpoints[R]["response"]["data"]>;

const longestWorkMs = 120_000;

/** With a token of the platform. One that was taken back before its time is exchanged once. */
export function asking({ api, credentials, repository }: GithubRepository, signal: AbortSignal): Ask {
  return (route, parameters) =>
    inTime(signal, async (limited) => {
      const attempt = async () => {
        const token = await credentials.token(repository, limited);
        return api.ask({ route, parameters: { ...parameters, ...repository } as never, token }, limited);
      };
      return attempt().catch((error) => {
        if (!isUnknownToken(error) || !credentials.forget(repository)) throw error;
        return attempt();
      });
    });
}

/** With a token of the person. Another server may have renewed it just now; else they have taken it back. */
export function askingAs({ api, repository }: GithubRepository, person: PersonalAccess, signal: AbortSignal): Ask {
  return (route, parameters) =>
    inTime(signal, async (limited) => {
      const attempt = (token: string) =>
        api.ask({ route, parameters: { ...parameters, ...repository } as never, token }, limited);
      const token = await person.token();
      return attempt(token)
        .catch(async (error) => {
          const other = isUnknownToken(error) ? await person.token() : token;
          if (other === token) throw error;
          return attempt(other);
        })
        .catch((error) => {
          throw isUnknownToken(error) ? person.disconnected(error) : error;
        });
    });
}

/** Whoever asks for patience again and again is not waited for. */
async function inTime<T>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(longestWorkMs);
  try {
    return await work(AbortSignal.any([signal, limit]));
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted || error instanceof GithubRefusal) throw error;
    throw new GithubRefusal(0, "there was no answer in time", { cause: error });
  }
}

const isUnknownToken = (error: unknown): boolean => error instanceof GithubRefusal && error.status === 401;

const pageSize = 100;

/** Page after page, until one is not full. */
export async function readPages<T>(read: (page: { per_page: number; page: number }) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page += 1) {
    const items = await read({ per_page: pageSize, page });
    all.push(...items);
    if (items.length < pageSize) return all;
  }
}
