// Counts who wrote the latest commits of paths. Pure but for reading them.
import type { RecentAuthor } from "./source-host.ts";

/** Of more paths the first ones tell enough. */
const maxPaths = 10;

/** Most commits first. Programs are left out. */
export async function countAuthors(
  paths: string[],
  read: (path: string) => Promise<string[]>,
): Promise<RecentAuthor[]> {
  const found = new Map<string, RecentAuthor>();
  for (const path of paths.slice(0, maxPaths))
    for (const login of await read(path)) {
      const author = found.get(login) ?? { login, commits: 0, path };
      found.set(login, { ...author, commits: author.commits + 1 });
    }
  return [...found.values()]
    .filter(({ login }) => !login.endsWith("[bot]"))
    .toSorted((left, right) => right.commits - left.commits);
}
