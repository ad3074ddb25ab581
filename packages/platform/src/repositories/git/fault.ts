// Repository failures that the platform cannot fix itself: an error with a code and a message for the user.
import { Fault } from "../../foundation/index.ts";

export type RepositoryFaultCode =
  /** The host did not answer, or the repository does not exist or is not readable. */
  | "repository_unreachable"
  /** An administrator blocked the repository or restricted it to other users. */
  | "repository_access"
  /** The user must connect, or reconnect, their account on the host. */
  | "integration_not_connected"
  | "repository_too_large"
  /** The repository was reached but has no such branch, tag, commit or pull request. */
  | "ref_not_found"
  /** The agent's files cannot be committed. */
  | "commit_failed"
  /** A commit contains a secret of the agent. */
  | "secret_in_commit"
  /** Another client changed the branch after our last push. */
  | "branch_moved"
  /** The host rejected the push: a protected branch, a hook or missing permission. */
  | "push_rejected"
  /** The branch was pushed, but the host did not create a pull request. */
  | "pull_request_failed";

export class RepositoryFault extends Fault {
  override name = "RepositoryFault";
  readonly code: RepositoryFaultCode;

  constructor(code: RepositoryFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
