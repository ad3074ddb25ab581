// What names in a request stand for in a repository: commits by branch, tag or name, and files and folders by path.
import { ApiError } from "../../foundation/index.ts";
import { askGit, GitFailed, GitTookTooLong, readReferences } from "../git/index.ts";
import type { HostedRepository } from "../githost/index.ts";

/** People wait for it. */
const limitMs = 30_000;

export async function readGit({ directory }: HostedRepository, args: string[], input?: string): Promise<Buffer> {
  const call = { location: { directory }, args, limitMs, ...(input !== undefined && { input }) };
  const { code, out, stderr } = await askGit(call).catch((error: unknown) => {
    if (!(error instanceof GitTookTooLong)) throw error;
    throw new ApiError("unavailable", "The repository took too long to answer. Try again later.", { retryAfter: 60 });
  });
  if (code !== 0) throw new GitFailed(args[0] ?? "", stderr);
  return out;
}

/** By exact names: git would also take an expression such as main^{/text}. Throws ApiError. */
export async function findCommit(repository: HostedRepository, ref = repository.defaultBranch): Promise<string> {
  const names = [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const found = await readReferences(repository.directory, names);
  const object = names.map((name) => found.get(name)).find((one) => one !== undefined) ?? ref;
  const commit = /^[0-9a-f]{40}$/.test(object) ? await describe(repository, `${object}^{commit}`) : null;
  if (commit !== null) return commit.object;
  throw new ApiError("not_found", `There is no branch, tag or commit "${ref.slice(0, 100)}" in ${repository.name}.`);
}

export interface FoundObject {
  object: string;
  kind: "commit" | "tree" | "blob";
  sizeBytes: number;
}

/** Throws ApiError. */
export async function findPath(repository: HostedRepository, commit: string, path: string): Promise<FoundObject> {
  // Git reads a path that begins with ./ or ../ as one from the work tree, and there is none.
  const isPlain = !path.split("/").some((part) => part === "." || part === "..");
  const found = isPlain ? await describe(repository, `${commit}:${path}`) : null;
  if (found !== null && found.kind !== "commit") return found;
  throw new ApiError("not_found", `There is no file or folder "${path.slice(0, 200)}" at ${commit.slice(0, 12)}.`);
}

/** What is missing is repeated in the output, and then it does not begin with the name of an object and a space. */
async function describe(repository: HostedRepository, name: string): Promise<FoundObject | null> {
  const text = (await readGit(repository, ["cat-file", "--batch-check", "-z"], `${name}\0`)).toString("latin1");
  const [, object, kind, size] = /^([0-9a-f]{40,64}) (commit|tree|blob) (\d+)\n$/.exec(text) ?? [];
  if (object === undefined) return null;
  return { object, kind: kind as FoundObject["kind"], sizeBytes: Number(size) };
}
