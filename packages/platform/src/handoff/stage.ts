// Puts the files of an agent's work tree into an index, as they are: names byte for byte, links as links, no filters.
// Plumbing instead of `git add --all`: that looks into repositories below the work tree by running git there, under
// whatever configuration the agent has written for them.
import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { askGit, GitFailed, type GitPlace, GitTookTooLong, RepositoryFault } from "../git/index.ts";

/** Throws RepositoryFault where git cannot make anything of the files. */
export async function stageFiles(place: GitPlace, signal: AbortSignal): Promise<void> {
  try {
    await stage(place, signal);
  } catch (error) {
    throw faultOf(error);
  }
}

async function stage(place: GitPlace, signal: AbortSignal): Promise<void> {
  const look = openEyes(place.workTree ?? "");
  const listed = await listNames(place, ["--modified", "--deleted", "--others", "--exclude-standard"], signal);
  const submodules = await submodulesOf(place, signal);
  const isStill = (path: string) => submodules.has(path) && look.entryAt(path) !== undefined;
  const paths = [...new Set(listed)].filter((path) => !path.endsWith("/") && !isStill(path));
  const found = new Map(paths.map((path) => [path, look.lookAt(path)]));
  const those = (what: Found) => paths.filter((path) => found.get(path) === what);
  const bytes = those("there").reduce((sum, path) => sum + (look.entryAt(path)?.size ?? 0), 0);
  if (bytes > mostBytes) throw tooMuch(bytes);
  // What is gone goes first: where a file became a directory, its name is in the way of what is below.
  await updateIndex(place, { flags: ["--force-remove"], paths: those("gone"), bytes: 0 }, signal);
  // A file may go away between the look and this.
  await updateIndex(place, { flags: ["--add", "--remove", "--replace"], paths: those("there"), bytes }, signal);
}

const mostBytes = 2 * 1024 ** 3;
const usualLimitMs = 120_000;
/** Reading, compressing and writing on a slow disk. */
const bytesPerMs = 5_000;

interface Update {
  flags: string[];
  paths: string[];
  bytes: number;
}

async function updateIndex(place: GitPlace, { flags, paths, bytes }: Update, signal: AbortSignal): Promise<void> {
  if (paths.length === 0) return;
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const args = ["update-index", "-z", ...flags, "--stdin"];
  const { code, said } = await askGit({ place, args, input, limitMs: usualLimitMs + bytes / bytesPerMs }, signal);
  if (code !== 0) throw new GitFailed("update-index", said);
}

/** Bytes as latin1 characters: a name need not be text. */
async function listNames(place: GitPlace, flags: string[], signal: AbortSignal): Promise<string[]> {
  const { code, out, said } = await askGit({ place, args: ["ls-files", "-z", ...flags] }, signal);
  if (code !== 0) throw new GitFailed("ls-files", said);
  return out.toString("latin1").split("\0").filter(Boolean);
}

async function submodulesOf(place: GitPlace, signal: AbortSignal): Promise<Set<string>> {
  const entries = await listNames(place, ["--stage"], signal);
  const links = entries.filter((entry) => entry.startsWith("160000 "));
  return new Set(links.map((entry) => entry.slice(entry.indexOf("\t") + 1)));
}

/** What is neither, such as a file that cannot be read, stays as it was. */
type Found = "gone" | "there" | "unreadable";

interface Eyes {
  lookAt(path: string): Found;
  /** Undefined where there is none, also where a file is in its way. */
  entryAt(path: string): Stats | undefined;
}

function openEyes(root: string): Eyes {
  const placeOf = (path: string) => Buffer.concat([Buffer.from(join(root, "/")), Buffer.from(path, "latin1")]);
  const entryAt = (path: string): Stats | undefined => {
    try {
      return lstatSync(placeOf(path), { throwIfNoEntry: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
      throw error;
    }
  };
  const links = new Map<string, boolean>();
  /** Whether a directory on the way became a link: what is behind it is found there, and is not of this place. */
  const isBehindLink = (path: string): boolean => {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (parent === "") return false;
    const known = links.get(parent) ?? (isBehindLink(parent) || entryAt(parent)?.isSymbolicLink() === true);
    links.set(parent, known);
    return known;
  };
  return {
    entryAt,
    lookAt(path) {
      const entry = isBehindLink(path) ? undefined : entryAt(path);
      if (entry === undefined || entry.isDirectory()) return "gone";
      if (entry.isSymbolicLink()) return "there";
      return entry.isFile() && isReadable(placeOf(path)) ? "there" : "unreadable";
    },
  };
}

function isReadable(place: Buffer): boolean {
  try {
    accessSync(place, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const tooMuch = (bytes: number) =>
  new RepositoryFault(
    "commit_failed",
    `The agent has left ${(bytes / 1024 ** 3).toFixed(1)} GiB of new files, and a commit takes ${mostBytes / 1024 ** 3} at most. Have it delete them, or ignore them in .gitignore.`,
  );

/** Everything else is for whoever asked. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof GitFailed || error instanceof GitTookTooLong)) return error;
  const words = error instanceof GitFailed ? reasonsIn(error.said) : error.message;
  return new RepositoryFault(
    "commit_failed",
    `What the agent has left cannot be committed: ${words.replace(/\.$/, "")}. Ask it in a follow-up to mend that.`,
    { cause: error },
  );
}

function reasonsIn(said: string): string {
  const lines = said.split("\n").flatMap((line) => /^(?:error|fatal): (.+)/.exec(line)?.[1] ?? []);
  return (lines.join("; ") || said).slice(0, 500);
}
