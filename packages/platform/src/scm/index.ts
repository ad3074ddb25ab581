// Repositories and whoever keeps them.
export type { GitRemote } from "./remote.ts";
export type { Branches, Comment, Draft, PullRequest, PullRequests, Review, SourceHost } from "./source-host.ts";
