// Repositories on the hosts that a team has credentials for.
import type { NetworkPolicy } from "../../foundation/index.ts";
import { type ListingAccess, listOffered, readRepositoryUrl, urlText } from "../scm/index.ts";
import { type CredentialStore, findCredentials } from "./store.ts";
import type { StoredCredential } from "./value.ts";

export interface OfferedRepositories {
  urls: string[];
  /** Hosts that could not be asked. */
  unavailable: { host: string; message: string }[];
}

export interface ListOptions extends CredentialStore {
  policy: NetworkPolicy;
  /** The origin of a host that is asked in another way. */
  except: string | undefined;
}

export async function listWithCredentials(options: ListOptions, teamId: number): Promise<OfferedRepositories> {
  const credentials = await findCredentials(options, { teamId }, ["token", "basic"]);
  const signal = new AbortController().signal;
  const lists = await Promise.all(
    credentials
      .map((credential) => ({ credential, access: accessOf(credential) }))
      .filter(({ access }) => new URL(urlText(access.host)).origin !== options.except)
      .map((target) => listOne(target, options, signal)),
  );
  return { urls: lists.flatMap(({ urls }) => urls), unavailable: lists.flatMap(({ unavailable }) => unavailable) };
}

async function listOne(
  { credential, access }: { credential: StoredCredential; access: ListingAccess },
  { policy }: ListOptions,
  signal: AbortSignal,
): Promise<OfferedRepositories> {
  const offered = await listOffered(access, policy, signal);
  const { host, kind } = credential;
  const unavailable = (message: string) => ({ urls: [], unavailable: [{ host, message }] });
  switch (offered.kind) {
    case "paths":
      return { urls: offered.paths.flatMap((path) => urlOf(path, access)), unavailable: [] };
    case "refused": {
      const name = kind === "token" ? "token" : "user name and password";
      return unavailable(
        `${host} did not list its repositories: it refused the team's ${name}. To set another: platform credentials set ${host} --kind ${kind}`,
      );
    }
    case "failed":
      return unavailable(`${host} did not list its repositories: ${offered.reason}. Try again later.`);
  }
}

/** Nothing for a path that no repository can have. */
function urlOf(path: string, { host }: ListingAccess): string[] {
  const url = urlText({ ...host, path: `/${path}.git` });
  return readRepositoryUrl(url).kind === "url" ? [url] : [];
}

function accessOf({ host, user, value }: StoredCredential): ListingAccess {
  const read = readRepositoryUrl(`${host.includes("://") ? host : `https://${host}`}/list`);
  if (read.kind === "refused") throw new Error(`${host} cannot be the host of a credential`);
  return { host: read.url, user, value };
}
