// Finds lines by regular expression, sorted by path and line: with ripgrep where it is installed, by walking where not.
import { stat } from "node:fs/promises";
import { normalize, relative, resolve } from "node:path";
import type { SearchRequest, SearchResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { fileFault, type PathFault, pathFaultOf } from "./fault.ts";
import { fileFilter } from "./file-filter.ts";
import { kindFault } from "./regular.ts";
import { searchWithRipgrep } from "./ripgrep.ts";
import { withContext } from "./search-context.ts";
import type { SearchTask } from "./search-task.ts";
import { searchByWalking } from "./walk.ts";

export async function searchFiles(scope: FileScope, request: SearchRequest, timeoutMs = 10_000): Promise<SearchResult> {
  const { pattern, path = ".", include, limit = 200, type, filesOnly = false, context = 0 } = request;
  const startsAt = await kindOfStart(resolve(scope.root, path));
  if (typeof startsAt === "object") return fileFault("search", path, startsAt);
  const filter = fileFilter(include, type);
  if (filter === null) {
    const reason = `the include glob ${include} is not valid (a bracket is not closed)`;
    return fileFault("search", path, { code: "invalid", reason });
  }
  const task: SearchTask = {
    root: scope.root,
    untrusted: [scope.root, ...(scope.writable === "anywhere" ? [] : scope.writable)],
    path: withoutTrailingSlash(path),
    startsAt,
    pattern,
    isWanted: (found) => startsAt === "file" || filter.isWanted(relative(scope.root, resolve(scope.root, found))),
    nameGlobs: filter.nameGlobs,
    filesOnly,
    limit,
    timeoutMs,
  };
  const result = (await searchWithRipgrep(task)) ?? (await searchByWalking(task));
  return result.kind === "fault" || context === 0 || filesOnly ? result : withContext(scope.root, result, context);
}

async function kindOfStart(start: string): Promise<SearchTask["startsAt"] | PathFault> {
  try {
    const stats = await stat(start);
    return stats.isDirectory() ? "directory" : (kindFault(stats) ?? "file");
  } catch (error) {
    return pathFaultOf(error);
  }
}

function withoutTrailingSlash(path: string): string {
  const clean = normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}
