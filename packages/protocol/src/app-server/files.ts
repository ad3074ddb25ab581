// Files of the machine the server runs on. All paths are absolute, all contents base64.
import { z } from "zod";
import { maybe, whole } from "./maybe.ts";

const path = z.string().describe("Absolute");

export const FsReadFileParams = z.object({ path });
export const FsReadFileResponse = z.object({ dataBase64: z.string() });
export const FsWriteFileParams = z.object({ path, dataBase64: z.string() });
export const FsCreateDirectoryParams = z.object({ path, recursive: maybe(z.boolean()) });
export const FsGetMetadataParams = z.object({ path });
export const FsGetMetadataResponse = z.object({
  isDirectory: z.boolean(),
  isFile: z.boolean(),
  isSymlink: z.boolean(),
  createdAtMs: whole,
  modifiedAtMs: whole,
});
export const FsReadDirectoryParams = z.object({ path });
export const FsReadDirectoryResponse = z.object({
  entries: z.array(z.object({ fileName: z.string(), isDirectory: z.boolean(), isFile: z.boolean() })),
});
export const FsRemoveParams = z.object({ path, recursive: maybe(z.boolean()), force: maybe(z.boolean()) });
export const FsCopyParams = z.object({
  sourcePath: path,
  destinationPath: path,
  recursive: maybe(z.boolean()),
});
export const FsWatchParams = z.object({ watchId: z.string(), path });
export const FsWatchResponse = z.object({ path });
export const FsUnwatchParams = z.object({ watchId: z.string() });
export const FsChangedNotification = z.object({ watchId: z.string(), changedPaths: z.array(path) });

export const FuzzyFileSearchParams = z.object({
  query: z.string(),
  roots: z.array(path),
  cancellationToken: maybe(z.string()),
});
export const FuzzyFileSearchResponse = z.object({
  files: z.array(
    z.object({
      root: z.string(),
      path: z.string(),
      match_type: z.enum(["file", "directory"]),
      file_name: z.string(),
      score: whole,
      indices: maybe(z.array(whole)),
    }),
  ),
});
