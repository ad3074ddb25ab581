// Finds lines by regular expression, sorted by path and line: with ripgrep where it is installed, by walking where not.
import { stat } from "node:fs/promises";
import { normalize, resolve } from "node:path";
import type { SearchRequest, SearchResult } from "@agentcli/protocol";
import type { Place } from "../place.ts";
import { fault, type Trouble, troubleOf } from "./fault.ts";
import { kindTrouble } from "./regular.ts";
import { searchWithRipgrep } from "./ripgrep.ts";
import type { SearchTask } from "./search-task.ts";
import { searchByWalking } from "./walk.ts";

export async function searchFiles(place: Place, request: SearchRequest, timeoutMs = 10_000): Promise<SearchResult> {
  const { pattern, path = ".", include, limit = 200 } = request;
  const startsAt = await kindOfStart(resolve(place.root, path));
  if (typeof startsAt === "object") return fault("search", path, startsAt);
  const task: SearchTask = {
    root: place.root,
    path: withoutEndSlash(path),
    startsAt,
    pattern,
    include,
    limit,
    timeoutMs,
  };
  return (await searchWithRipgrep(task)) ?? (await searchByWalking(task));
}

async function kindOfStart(start: string): Promise<SearchTask["startsAt"] | Trouble> {
  try {
    const found = await stat(start);
    return found.isDirectory() ? "directory" : (kindTrouble(found) ?? "file");
  } catch (error) {
    return troubleOf(error);
  }
}

function withoutEndSlash(path: string): string {
  const clean = normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}
