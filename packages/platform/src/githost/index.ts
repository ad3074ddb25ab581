// The embedded git host.
export { type DiffRequest, readDiff } from "./changes.ts";
export { openDoor } from "./door.ts";
export { type GitHost, type GitHostOptions, openGitHost } from "./host.ts";
export { mergeAs } from "./merge.ts";
export type { PullRequestRecord, PullRequestStore } from "./pull-requests.ts";
export type { CommentRecord, RemarkStore, ReviewRecord } from "./remarks.ts";
export type { HostedRepositories, HostedRepository } from "./repositories.ts";
export { servePullRequests } from "./routes.ts";
export { serveGit } from "./smart-http.ts";
export { ownRepositories } from "./source-host.ts";
