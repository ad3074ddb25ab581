// Merges a pull request on behalf of whoever asks.
import { ApiProblem } from "../http/index.ts";
import type { Principal } from "../principals/index.ts";
import { mergePull } from "./changes.ts";
import type { GitHost } from "./host.ts";
import type { PullRequestRecord } from "./pull-requests.ts";
import type { HostedRepository } from "./repositories.ts";

export interface MergeWish {
  repository: HostedRepository;
  number: number;
  principal: Principal;
}

/** Throws ApiProblem where it is not ready, or the two cannot be put together. */
export async function mergeAs(host: GitHost, { repository, number, principal }: MergeWish): Promise<PullRequestRecord> {
  const store = host.pullRequests(repository);
  const pull = await store.read(number);
  if (pull.state === "merged") return pull;
  if (pull.state === "closed" || pull.isDraft)
    throw new ApiProblem(
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
    message: `Merge pull request #${number} from ${pull.head}\n\n${pull.title}\n`,
  });
  return store.change(number, { state: "merged" });
}
