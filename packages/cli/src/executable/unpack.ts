// Writes the files of an executable below the agent home, once for each build: the sandbox hides them there from commands.

import { join } from "node:path";
import { getAsset, getRawAsset } from "node:sea";
import { agentHomeOf } from "../environment.ts";
import { type PackedFile, unpackFiles } from "./unpack-files.ts";

/** The directory with the files. */
export const unpack = (digest: string): string =>
  unpackFiles({
    programs: join(agentHomeOf(process.env), "cache", "program"),
    digest,
    list: () => JSON.parse(getAsset("files.json", "utf8")) as PackedFile[],
    read: (path) => Buffer.from(getRawAsset(path) as ArrayBuffer),
  });
