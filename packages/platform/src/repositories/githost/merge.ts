// Merges a pull request in the name of the caller.
import { ApiError } from "../../foundation/index.ts";
import { type Principal, principalName } from "../../identity/index.ts";
import { mergePull } from "./changes.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import type { PullRequestRecord } from "./pull-requests.ts";

export interface MergeOptions {
  repository: HostedRepository;
  number: number;
  principal: Principal;
  /** What the caller has seen: with newer commits nothing is merged. */
  headCommit?: string | undefined;
}

/** Throws ApiError if the pull request is a draft, is closed or has conflicts. */
export async function mergeAs(
  host: GitHost,
  { repository, number, principal, headCommit }: MergeOptions,
): Promise<PullRequestRecord> {
  const store = host.pullRequests(repository);
  const pull = await store.read(number);
  if (pull.state === "merged") return pull;
  if (pull.state === "closed" || pull.isDraft)
    throw new ApiError(
      "pull_request_conflict",
      `Pull request ${number} is ${pull.isDraft ? "a draft; mark it as ready" : "closed; open it again"} first.`,
    );
  const author =
    principal.kind === "user"
      ? {
          name: [principal.firstName, principal.lastName].filter(Boolean).join(" ") || principal.email,
          email: principal.email,
        }
      : { name: principal.name, email: `${principal.serviceAccountId}@platform.invalid` };
  await mergePull(repository, {
    pull,
    author,
    headCommit,
    signer: host.signer,
    message: `Merge pull request #${number} from ${pull.head}\n\n${pull.title}\n`,
  });
  const actor = principalName(principal);
  await host.notePush(repository, actor);
  return store.change(number, { state: "merged" }, actor);
}
