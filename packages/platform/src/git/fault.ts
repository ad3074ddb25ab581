// What can be wrong with a repository that is not ours to mend: a value for a person, with a code.

export type RepositoryFaultCode =
  /** No answer, no such repository, or none that we may read. */
  | "repository_unreachable"
  /** An administrator has excluded it, or keeps it for others. */
  | "repository_access"
  /** A person has to connect their account on the host, again or for the first time. */
  | "integration_not_connected"
  | "repository_too_large"
  /** The repository was reached, and has no such branch, tag, commit or pull request. */
  | "ref_not_found"
  /** What the agent has left cannot be put into a commit. */
  | "commit_failed"
  /** The branch was changed by somebody else since we pushed to it last. */
  | "branch_moved"
  /** The host does not take the push: a protected branch, a hook, a missing right. */
  | "push_rejected"
  /** The pushed branch stays; the host did not make a pull request of it. */
  | "pull_request_failed";

export class RepositoryFault extends Error {
  override name = "RepositoryFault";
  readonly code: RepositoryFaultCode;

  constructor(code: RepositoryFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
