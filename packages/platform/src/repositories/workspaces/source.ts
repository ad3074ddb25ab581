// Opens the git directory with the objects of a repository: the platform's own one, or a mirror of another host's.
import { join } from "node:path";
import type { SourceHosts } from "../scm/index.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Locks } from "./lock.ts";
import { openMirror, type Source } from "./mirror.ts";
import { ownSource } from "./own-source.ts";

export interface SourceOptions {
  dataDirectory: string;
  sources: SourceHosts;
  locks: Locks;
  limits: RepositoryLimits;
}

export async function openSource(
  { teamId, url }: { teamId: number; url: string },
  { dataDirectory, sources, locks, limits }: SourceOptions,
  signal: AbortSignal,
): Promise<Source> {
  const host = await sources.open(teamId, url);
  if (host.directory !== null) return ownSource(host, host.directory, signal);
  const repository = { teamId, url: sources.canonical(url), host };
  return openMirror(repository, { directory: join(dataDirectory, "mirrors"), locks, limits }, signal);
}
