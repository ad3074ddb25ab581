// The files of a diff, read while git writes it.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type ChangedFile, openDiffReader } from "@agentcli/engine/review";
import type { Git, GitStream } from "./git.ts";

interface DiffOptions {
  git: Git;
  stream: GitStream;
  root: string;
  maxBytes: number;
  onProgress(line: string): void;
}

/** Of one revision against the files of the working tree that the index knows, or of two revisions. */
export async function readDiff(options: DiffOptions, revisions: string[], indexFile?: string): Promise<ChangedFile[]> {
  const reader = openDiffReader(options.maxBytes);
  const progress = countMegabytes(options.onProgress);
  const limit = ["-c", `core.bigFileThreshold=${maxComparedBytes}`];
  const onChunk = (chunk: Buffer) => {
    reader.push(chunk);
    progress(chunk.length);
  };
  await options.stream([...limit, "diff", ...diffFlags, ...revisions, "--"], { indexFile, onChunk });
  const files = reader.end();
  await markOversized(files, options, revisions);
  return files;
}

function countMegabytes(onProgress: (line: string) => void) {
  let bytes = 0;
  let reported = 0;
  return (more: number) => {
    bytes += more;
    if (bytes < reported + progressBytes) return;
    reported = bytes;
    onProgress(`Collecting the change: ${Math.floor(bytes / 1024 / 1024)} MB …`);
  };
}

const progressBytes = 32 * 1024 * 1024;

/** Git needs several times the size of a file for its comparison; larger files are treated as binary. */
const maxComparedBytes = 16 * 1024 * 1024;

const diffFlags = [
  ...["--no-color", "--no-relative", "--find-renames", "-O/dev/null"],
  ...["--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"],
  "--submodule=short",
];

/** Git reports a file that is too large to be compared in the same way as a binary one. */
async function markOversized(files: ChangedFile[], { git, root }: DiffOptions, revisions: string[]): Promise<void> {
  const binary = files.filter(({ kind, path }) => kind === "binary" && !path.includes("\n"));
  if (binary.length === 0) return;
  const names = revisions.flatMap((revision) => binary.map(({ path }) => `${revision}:${path}\n`));
  const input = Buffer.from(names.join(""));
  const sizes = (await git(["cat-file", "--batch-check=%(objectsize)"], { input })).toString().split("\n");
  for (const [index, file] of binary.entries()) {
    const stored = revisions.map((_, revision) => Number(sizes[revision * binary.length + index]));
    const present = revisions.length === 1 ? await sizeOf(join(root, file.path)) : 0;
    if ([...stored, present].some((size) => size > maxComparedBytes)) file.kind = "oversized";
  }
}

const sizeOf = (path: string): Promise<number> =>
  lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
