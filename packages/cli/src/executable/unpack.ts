// Writes the files of an executable below the agent home, once for each build: the sandbox hides them there from commands.
import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getAsset, getRawAsset } from "node:sea";
import { makePrivateDirectory } from "@agentcli/host/private-directory";
import { agentHomeOf } from "../environment.ts";

/** The directory with the files. */
export function unpack(digest: string): string {
  const programs = join(agentHomeOf(process.env), "cache", "program");
  const directory = join(programs, digest);
  if (!isUnpacked(directory)) {
    makePrivateDirectory(programs);
    const draft = join(programs, `${digest}.${randomUUID()}`);
    writeFiles(draft);
    rename(draft, directory);
  }
  return directory;
}

/** What others could have written is not run. */
function isUnpacked(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return false;
  const isOwn = found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
  if (!isOwn) throw new Error(`${directory} could be changed by other users. Remove it and start again.`);
  return true;
}

function writeFiles(directory: string): void {
  const files = JSON.parse(getAsset("files.json", "utf8")) as { path: string; mode: number }[];
  mkdirSync(directory, { mode: 0o700 });
  for (const { path, mode } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, Buffer.from(getRawAsset(path) as ArrayBuffer));
    chmodSync(target, mode);
  }
}

/** Another process may have been first: its files are the same. */
function rename(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!isUnpacked(directory)) throw error;
  }
}
