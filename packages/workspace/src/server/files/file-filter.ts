// Which files a search is about: those in a glob, of a type, or both.

import { compileGlob } from "../../ignore/index.ts";
import { globsOfType } from "./file-types.ts";

export interface FileFilter {
  /** For paths from the root. */
  isWanted(path: string): boolean;
  nameGlobs: string[];
}

/** Null for a glob that is not valid. */
export function fileFilter(include: string | undefined, type: string | undefined): FileFilter | null {
  const included = compileGlob(include ?? "*");
  if (included === null) return null;
  const types = type === undefined ? [] : globsOfType(type);
  const typed = types.map(compileGlob);
  return {
    isWanted: (path) => included(path) && (typed.length === 0 || typed.some((matches) => matches?.(path))),
    nameGlobs: types.length > 0 ? types : nameGlobsOf(include),
  };
}

/** Globs that exclude, or whose last part could match several names of a path, tell nothing about one name. */
function nameGlobsOf(include: string | undefined): string[] {
  if (include === undefined || include.startsWith("!") || /[{\\[].*\//.test(include)) return [];
  const name = include.slice(include.lastIndexOf("/") + 1);
  return name === "" || name.includes("**") ? [] : [name];
}
