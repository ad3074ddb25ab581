// Makes the directory of the host that a directory of the machine's disk is mounted on. Agents write there: no link is followed.
// Builds name the paths: none leads up.
import { closeSync, constants, mkdirSync, openSync, readdirSync } from "node:fs";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * `directory` is what the machine sees as the first part of `path`, such as /workspace. False where a file of the agent is in
 * the way, or where the directory above is missing: then the agent sees its own files there.
 */
export function makeMountPoint(directory: string, path: string): boolean {
  const [, , ...names] = path.split("/");
  const last = names.at(-1);
  if (last === undefined || !isPlainPath(path)) return false;
  const opened: number[] = [];
  const open = (name: string) => {
    opened.push(openSync(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return `/proc/self/fd/${opened.at(-1)}`;
  };
  try {
    const parent = names.slice(0, -1).reduce((above, name) => open(`${above}/${name}`), open(directory));
    if (!readdirSync(parent).includes(last)) mkdirSync(`${parent}/${last}`, { mode: 0o755 });
    return readdirSync(open(`${parent}/${last}`)).length === 0;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Absolute, without empty parts, `.` and `..`. */
export const isPlainPath = (path: string): boolean =>
  path.split("/").every((name, index) => (index === 0 ? name === "" : name !== "" && name !== "." && name !== ".."));
