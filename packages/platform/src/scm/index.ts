// Repositories and whoever keeps them.
export { type Advertisement, readAdvertisement } from "./advertisement.ts";
export { isCommitName, isReference, repositoryOfPullRequest } from "./reference.ts";
export type { RepositoryUrl } from "./repository-url.ts";
export type { Branches, Comment, Draft, PullRequest, PullRequests, Review, SourceHost } from "./source-host.ts";
export { type OwnRepositories, openSourceHosts, type SourceHosts } from "./source-hosts.ts";
