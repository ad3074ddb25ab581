// What `install` left in the repositories beside what their commits have, such as node_modules. Agents check out a commit of
// their own: they see these directories of the disk, and get copies of the single files.
import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import type { Workspace } from "@agentcli/protocol";
import { workspaceDirectory } from "../machine-settings.ts";
import type { BuildLogger } from "./executor.ts";
import type { BuildOutput } from "./output.ts";

/** On the disk of a build; an agent unpacks it in its workspace. */
export const leftFilesArchive = "/var/lib/platform/left-files.tar";

/** Each directory is a mount of every sandbox. */
const maxDirectories = 100;
const maxFiles = 1000;
/** Of a list; the program that writes it is the machine's own. */
const maxListed = 16 * 1024 ** 2;
const timeoutMs = 10 * 60_000;

export interface LeftFilesRequest {
  workspace: Workspace;
  /** Of all commits: `<repository>/<path>`. */
  tracked: string[];
}

export async function keepLeftFiles(
  { workspace, tracked }: LeftFilesRequest,
  log: BuildLogger,
  signal: AbortSignal,
): Promise<NonNullable<BuildOutput["left"]>> {
  const run = async (script: string, paths: string[]) => {
    let out = "";
    const start = { argv: ["/bin/sh", "-c", script, workspaceDirectory, leftFilesArchive], timeoutMs };
    const take = ({ stream, text }: { stream: string; text: string }) => {
      if (stream === "stdout") out += text.slice(0, maxListed - out.length);
    };
    const input = paths.map((path) => `${path}\0`).join("");
    const ended = await workspace.exec({ id: randomUUID(), start, input, endInput: true }, take, signal);
    return { out, isDone: ended.state === "exited" && ended.exitCode === 0 };
  };
  const known = withDirectories(tracked);
  const listed = await run(list, [...known.directories]);
  if (!listed.isDone && listed.out === "") {
    log("Warning: what install left in the repositories is not kept for agents: find or xargs is missing.\n");
    return { directories: [], hasFiles: false };
  }
  const { directories, files } = newEntries(listed.out, known);
  if (directories.length > maxDirectories || files.length > maxFiles)
    log(`Warning: install left more than ${maxDirectories} directories or ${maxFiles} files; agents see the first.\n`);
  const copied = files.length === 0 || (await run(pack, files.slice(0, maxFiles))).isDone;
  if (!copied) log("Warning: single files that install left in the repositories are not kept: tar failed.\n");
  return {
    directories: directories.slice(0, maxDirectories).map((path) => `${workspaceDirectory}/${path}`),
    hasFiles: files.length > 0 && copied,
  };
}

/** A directory that is gone is left out. */
const list = `cd "$0" && xargs -0 sh -c 'find -P "$@" -mindepth 1 -maxdepth 1 -printf "%y %p\\0" 2> /dev/null || true' find`;
const pack = `umask 077; cd "$0" && mkdir -p "$(dirname "$1")" && tar --create --file "$1" --null --files-from -`;

interface KnownPaths {
  /** Relative, such as `./shop/src`. */
  directories: Set<string>;
  files: Set<string>;
}

function withDirectories(tracked: string[]): KnownPaths {
  const directories = new Set(["."]);
  const files = new Set(tracked.map((path) => `./${path}`));
  for (const file of files) {
    const parts = file.split("/");
    for (let count = parts.length - 1; count > 1; count -= 1) directories.add(parts.slice(0, count).join("/"));
  }
  return { directories, files };
}

/** Links are copied like files: what they point at may be of the machine. */
function newEntries(text: string, { directories: known, files: tracked }: KnownPaths) {
  const directories: string[] = [];
  const files: string[] = [];
  for (const entry of text.split("\0")) {
    const [kind, path] = [entry.slice(0, 1), entry.slice(2)];
    if (!isEntryOf(known, path) || known.has(path) || tracked.has(path) || path.endsWith("/.git")) continue;
    if (kind === "d") directories.push(path.slice("./".length));
    if (kind === "f" || kind === "l") files.push(path);
  }
  return { directories: directories.toSorted(), files: files.toSorted() };
}

/** The list comes out of the machine, and the server makes mount points of its paths: it may only name what was asked for. */
function isEntryOf(directories: Set<string>, path: string): boolean {
  const { dir, base } = posix.parse(path);
  return path === `${dir}/${base}` && base !== ".." && base !== "." && directories.has(dir);
}
