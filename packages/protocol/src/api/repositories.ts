// Files and commits of repositories of the embedded git host.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { RepositoryDiff } from "./diff.ts";
import { HostedRepositoryEntry } from "./overview.ts";

const withoutNul = /^[^\0]*$/;
const ref = z.string().min(1).max(250).regex(withoutNul).optional();
const path = z.string().max(4096).regex(withoutNul).default("");

export const RepositoryBranch = z.object({
  name: z.string(),
  commit: z.string(),
  committedAt: Timestamp,
});

export const RepositoryDetails = HostedRepositoryEntry.extend({
  branches: z
    .array(RepositoryBranch)
    .describe("The 200 with the latest commits, those first. None: nothing was pushed"),
});
export type RepositoryDetails = z.infer<typeof RepositoryDetails>;

export const RepositoryContentQuery = z.object({
  ref: ref.describe("A branch, a tag or the name of a commit; the default branch without it"),
  path: path.describe("Of a folder or a file, from the root; the root without it"),
});

export const RepositoryFolderEntry = z.object({
  name: z.string(),
  kind: z.enum(["folder", "file", "link", "repository"]).describe("repository: a submodule"),
  sizeBytes: z.int().nonnegative().optional().describe("Of a file"),
});
export type RepositoryFolderEntry = z.infer<typeof RepositoryFolderEntry>;

const located = { commit: z.string().describe("What was read"), path: z.string() };

export const RepositoryFolder = z.object({
  ...located,
  kind: z.literal("folder"),
  entries: z.array(RepositoryFolderEntry).describe("Folders first; at most 2,000"),
  truncated: z.boolean(),
});
export type RepositoryFolder = z.infer<typeof RepositoryFolder>;

export const RepositoryFile = z.object({
  ...located,
  kind: z.literal("file"),
  sizeBytes: z.int().nonnegative(),
  text: z.string().optional().describe("Absent for a binary file, and for one of more than 1 MiB"),
});
export type RepositoryFile = z.infer<typeof RepositoryFile>;

export const RepositoryContent = z.discriminatedUnion("kind", [RepositoryFolder, RepositoryFile]);
export type RepositoryContent = z.infer<typeof RepositoryContent>;

export const RepositoryCommitQuery = RepositoryContentQuery.extend({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  skip: z.coerce.number().int().min(0).max(100_000).default(0).describe("`nextSkip` of the page before"),
});
export type RepositoryCommitQuery = z.infer<typeof RepositoryCommitQuery>;

export const CommitEntry = z.object({
  commit: z.string(),
  parents: z.array(z.string()),
  subject: z.string().describe("The first line of its message"),
  author: z.object({ name: z.string(), email: z.string() }),
  authoredAt: Timestamp,
});
export type CommitEntry = z.infer<typeof CommitEntry>;

export const CommitPage = z.object({
  commit: z.string().describe("Where the history begins: `ref` of the next page"),
  items: z.array(CommitEntry),
  nextSkip: z.int().optional().describe("`skip` of the next page; absent on the last one"),
});
export type CommitPage = z.infer<typeof CommitPage>;

export const CommitDetails = CommitEntry.extend({
  message: z.string(),
  ...RepositoryDiff.pick({ patch: true, truncated: true, patchBytes: true }).shape,
});
export type CommitDetails = z.infer<typeof CommitDetails>;
