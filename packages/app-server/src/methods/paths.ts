// Paths a client gives: absolute, and named in every refusal.
import { isAbsolute, normalize } from "node:path";
import { invalidParams, invalidRequest } from "../method.ts";

export function absolute(path: string): string {
  if (path.includes("\0")) throw invalidParams(`${JSON.stringify(path)} has a null character in it.`);
  if (!isAbsolute(path)) throw invalidParams(`${JSON.stringify(path)} is not an absolute path. Begin it with /.`);
  const clean = normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}

/** System errors refuse the request; everything else is an internal error. */
export async function reaching<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (typeof code !== "string") throw error;
    throw invalidRequest(`${path}: ${reasons[code] ?? message}`);
  }
}

const reasons: Record<string, string> = {
  ENOENT: "there is no such file or directory.",
  EEXIST: "it exists already.",
  ENOTDIR: "it, or what it lies in, is not a directory.",
  EISDIR: "it is a directory.",
  ENOTEMPTY: "the directory is not empty; remove it with recursive.",
  EACCES: "permission denied.",
  EPERM: "the system does not permit it.",
  EROFS: "the file system is read-only.",
  ENOSPC: "there is no room left, or too much is watched.",
  ELOOP: "too many symbolic links.",
  ENAMETOOLONG: "the name is too long.",
};
