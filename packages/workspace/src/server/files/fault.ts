// Turns a file system error into a message: the path, what is wrong, what to do next.
import type { FileFault } from "@agentcli/protocol";

/** Why a path cannot be used, without its name: callers put it into their own sentence. */
export interface PathFault {
  code: FileFault["code"];
  reason: string;
}

export function fileFault(action: "read" | "list" | "search", path: string, fault: PathFault): FileFault {
  const message = `Cannot ${action} ${path}: ${fault.reason}. ${advice[fault.code]}`.trimEnd();
  return { kind: "fault", code: fault.code, message };
}

const advice: Record<FileFault["code"], string> = {
  missing: "List the directory above it to see what is there.",
  "not-a-file": "Specify a regular file.",
  "not-a-directory": "Specify a directory.",
  denied: "Choose another path, or have its permissions changed.",
  "too-large": "Take a part of it with a command such as head, tail or sed -n.",
  binary: "Look at it with a command such as file or xxd.",
  invalid: "Correct it and ask again.",
  failed: "",
};

/** For errors of `node:fs`; anything else is a bug and rethrown. */
export function pathFaultOf(error: unknown): PathFault {
  switch (errnoOf(error)) {
    case "ENOENT":
      return { code: "missing", reason: "there is no such file or directory" };
    case "ENOTDIR":
      return { code: "not-a-directory", reason: "a part of the path is not a directory" };
    case "EISDIR":
      return { code: "not-a-file", reason: "it is a directory" };
    case "EACCES":
    case "EPERM":
      return { code: "denied", reason: "permission denied" };
    case "EROFS":
      return { code: "denied", reason: "the file system is read-only" };
    case "ELOOP":
      return { code: "invalid", reason: "its symbolic links form a loop" };
    case "ENAMETOOLONG":
      return { code: "invalid", reason: "the name is too long" };
    case "ERR_INVALID_ARG_VALUE":
      return { code: "invalid", reason: "the path contains a NUL byte" };
    case undefined:
      throw error;
    default:
      return { code: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

// Not `instanceof Error`: errors from another realm, such as those of `node:vm`, have another Error.
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
