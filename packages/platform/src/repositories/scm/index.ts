// Repositories and their source hosts.
export { type AccessRules, openAccessRules } from "./access.ts";
export { type Advertisement, readAdvertisement } from "./advertisement.ts";
export { writeCertificates } from "./certificates.ts";
export { countAuthors } from "./count-authors.ts";
export { ConnectionRefused, type GithubAccounts, type UserTokens } from "./github/accounts.ts";
export { GithubRefusal } from "./github/api.ts";
export { readPrivateKey } from "./github/credentials.ts";
export { type Github, openGithub } from "./github/host.ts";
export type { HookDeliveries, HookDelivery, RepositoryHook } from "./hook-deliveries.ts";
export type { Authorization, CredentialLabel, HostCredentials, SshCredentials } from "./host-credentials.ts";
export { type ListingAccess, listOffered } from "./offered-repositories.ts";
export { CredentialFault } from "./plain-git.ts";
export { requestReferences } from "./redirects.ts";
export { isCommitName, isReference, repositoryOfPullRequest } from "./reference.ts";
export { type RepositoryUrl, readRepositoryUrl, urlText } from "./repository-url.ts";
export type {
  Branches,
  Check,
  CheckState,
  Checks,
  Comment,
  CommitRange,
  Dismissal,
  Draft,
  FailedCheck,
  History,
  Inquiries,
  PersonalAccess,
  PullRequest,
  PullRequests,
  PushedCommit,
  RecentAuthor,
  RepositoryPermission,
  Review,
  SourceHost,
} from "./source-host.ts";
export { type OwnRepositories, openSourceHosts, type SourceHosts } from "./source-hosts.ts";
