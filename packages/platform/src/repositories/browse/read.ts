// Branches, folders, files and commits of a repository, as the API shows them.
import type {
  CommitDetails,
  CommitEntry,
  CommitPage,
  RepositoryCommitQuery,
  RepositoryContent,
  RepositoryDetails,
  RepositoryFolderEntry,
} from "@agentcli/protocol/api";
import { type GitHost, type HostedRepository, stableDiffFlags } from "../githost/index.ts";
import { capPatch } from "../handoff/index.ts";
import { type FoundObject, findCommit, findPath, readGit } from "./objects.ts";

const maxBranches = 200;

export async function readRepository(host: GitHost, repository: HostedRepository): Promise<RepositoryDetails> {
  const format = "--format=%(refname:lstrip=2)%00%(objectname)%00%(committerdate:unix)";
  const args = ["for-each-ref", `--count=${maxBranches}`, "--sort=-committerdate", format, "refs/heads"];
  const lines = (await readGit(repository, args)).toString().split("\n").filter(Boolean);
  const { name, defaultBranch } = repository;
  return {
    ...{ name, defaultBranch, url: host.cloneUrl(name) },
    branches: lines.map((line) => {
      const [branch = "", commit = "", seconds = ""] = line.split("\0");
      return { name: branch, commit, committedAt: timeOf(seconds) };
    }),
  };
}

export interface ContentRequest {
  ref?: string | undefined;
  path: string;
}

export async function readContent(
  repository: HostedRepository,
  { ref, path }: ContentRequest,
): Promise<RepositoryContent> {
  const commit = await findCommit(repository, ref);
  const found = await findPath(repository, commit, path);
  if (found.kind === "tree") return { kind: "folder", commit, path, ...(await readFolder(repository, found)) };
  const text = await readText(repository, found);
  return { kind: "file", commit, path, sizeBytes: found.sizeBytes, ...(text !== null && { text }) };
}

const maxEntries = 2_000;

async function readFolder(repository: HostedRepository, { object }: FoundObject) {
  const text = (await readGit(repository, ["ls-tree", "-z", "--long", object])).toString();
  const all = text.split("\0").filter(Boolean).map(readEntry);
  const folders = all.filter(({ kind }) => kind === "folder");
  const sorted = [...folders, ...all.filter(({ kind }) => kind !== "folder")];
  return { entries: sorted.slice(0, maxEntries), truncated: sorted.length > maxEntries };
}

function readEntry(line: string): RepositoryFolderEntry {
  const [, mode = "", size = "", name = ""] = /^(\d+) \w+ \w+ +(\d+|-)\t([\s\S]*)$/.exec(line) ?? [];
  const kind = kinds[mode] ?? "file";
  return { name, kind, ...(kind === "file" && { sizeBytes: Number(size) }) };
}

const kinds: Record<string, RepositoryFolderEntry["kind"]> = {
  "040000": "folder",
  "120000": "link",
  "160000": "repository",
};

const maxTextBytes = 1024 * 1024;

/** Null for what is not shown: binary files and large ones. */
async function readText(repository: HostedRepository, { object, sizeBytes }: FoundObject): Promise<string | null> {
  if (sizeBytes > maxTextBytes) return null;
  const bytes = await readGit(repository, ["cat-file", "blob", object]);
  return bytes.includes(0) ? null : bytes.toString("utf8");
}

const fields = ["%H", "%P", "%an", "%ae", "%at", "%s", "%B"];
const format = `--format=${fields.join("%x00")}%x00`;

export async function readCommits(
  repository: HostedRepository,
  { ref, path, limit, skip }: RepositoryCommitQuery,
): Promise<CommitPage> {
  const commit = await findCommit(repository, ref);
  const range = [`--max-count=${limit + 1}`, `--skip=${skip}`];
  const paths = path === "" ? [] : [`:(top,literal)${path}`];
  const found = await listCommits(repository, [...range, commit, "--", ...paths]);
  const items = found.slice(0, limit).map(({ entry }) => entry);
  return { commit, items, ...(found.length > limit && { nextSkip: skip + limit }) };
}

export async function readCommit(repository: HostedRepository, name: string): Promise<CommitDetails> {
  const commit = await findCommit(repository, name);
  const [found] = await listCommits(repository, ["--max-count=1", commit, "--"]);
  if (found === undefined) throw new Error(`git log shows nothing of ${commit}`);
  // Of a merge what it changed on its branch.
  const flags = ["--format=", "--patch", "-m", "--first-parent", ...stableDiffFlags];
  const patch = await readGit(repository, ["show", ...flags, commit, "--"]);
  const beginning = capPatch(patch);
  return {
    ...found,
    ...found.entry,
    patch: beginning.toString("utf8"),
    truncated: beginning.length < patch.length,
    patchBytes: patch.length,
  };
}

async function listCommits(
  repository: HostedRepository,
  args: string[],
): Promise<{ entry: CommitEntry; message: string }[]> {
  const text = (await readGit(repository, ["log", "--no-show-signature", "--no-color", format, ...args])).toString();
  const values = text.split("\0");
  const count = Math.floor(values.length / fields.length);
  return Array.from({ length: count }, (_, index) => {
    const at = index * fields.length;
    const [commit = "", parents = "", name = "", email = "", seconds = "", subject = "", message = ""] = values
      .slice(at, at + fields.length)
      .map((value, field) => (field === 0 ? value.trimStart() : value));
    const entry = {
      ...{ commit, subject, author: { name, email } },
      parents: parents.split(" ").filter(Boolean),
      authoredAt: timeOf(seconds),
    };
    return { entry, message: message.trimEnd() };
  });
}

const lastSecond = Date.UTC(9999, 11, 31) / 1000;

/** Commits may have any time. */
function timeOf(seconds: string): string {
  const at = Math.min(Math.max(Number(seconds) || 0, 0), lastSecond);
  return new Date(at * 1000).toISOString();
}
