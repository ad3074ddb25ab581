// Fetches a repository of any host whole, to be copied to the embedded git host: what agents of the caller could read.
import { ApiError } from "../foundation/index.ts";
import type { RepositoryChecks } from "./accounts/index.ts";
import { RepositoryFault } from "./git/index.ts";
import type { ImportRequest } from "./githost/index.ts";
import { openSource, type SourceOptions } from "./workspaces/index.ts";

export type FetchImport = (request: ImportRequest, signal: AbortSignal) => Promise<string>;

export const openFetchImport =
  (options: SourceOptions, checks: Pick<RepositoryChecks, "checkAtCreation">): FetchImport =>
  async ({ principal, url }, signal) => {
    try {
      await checks.checkAtCreation(principal, [{ url }]);
      const source = await openSource({ teamId: principal.teamId, url }, options, signal);
      if (source.advertisement.references.size === 0)
        throw new ApiError("validation_error", "importUrl: the repository is empty. Leave importUrl out.");
      if (source.isPartial)
        throw new ApiError(
          "validation_error",
          `importUrl: the repository is larger than ${options.limits.wholeBytes / 1024 / 1024} MiB. Clone it on the server, then run: platform repos create NAME --from PATH`,
        );
      return source.directory;
    } catch (error) {
      throw refusalOf(error, signal);
    }
  };

/** The checks name the field of a request for an agent. */
function refusalOf(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ApiError)
    return new ApiError(error.code, error.message.replace("repos[0].url", "importUrl"), error.extra);
  if (error instanceof RepositoryFault) return new ApiError("repository_access", `importUrl: ${error.message}`);
  if (signal.aborted)
    return new ApiError("unavailable", "The import took too long. Try again later.", { retryAfter: 60 });
  return error;
}
