// The embedded git host.

export { openAuthenticator } from "./authenticator.ts";
export { type DiffRequest, headCommit, readDiff, stableDiffFlags } from "./changes.ts";
export type { CommentRecord, CommentStore, ReviewRecord } from "./comments.ts";
export { addCreateRoute, type CreateRouteOptions, type ImportRequest } from "./create-route.ts";
export type { HostEvent, RecordEvent } from "./events.ts";
export { type GitHost, type GitHostOptions, openGitHost } from "./host.ts";
export type { HostedRepository } from "./hosted-repository.ts";
export { readPullRequestLinks } from "./links.ts";
export { mergeAs } from "./merge.ts";
export type { PullRequestRecord, PullRequestStore } from "./pull-requests.ts";
export type { HostedRepositories } from "./repositories.ts";
export { servePullRequests } from "./routes.ts";
export { serveGit } from "./smart-http.ts";
export { ownRepositories } from "./source-host.ts";
