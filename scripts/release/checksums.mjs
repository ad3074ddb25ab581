// SHA256SUMS of a release, in the format of sha256sum.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What a release consists of, in a fixed order. */
export const listRelease = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "SHA256SUMS")
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();

/** The number of files. */
export function writeChecksums(directory) {
  const files = listRelease(directory);
  const digest = (name) =>
    createHash("sha256")
      .update(readFileSync(join(directory, name)))
      .digest("hex");
  writeFileSync(join(directory, "SHA256SUMS"), files.map((name) => `${digest(name)}  ${name}\n`).join(""));
  return files.length;
}
