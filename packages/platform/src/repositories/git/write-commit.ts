// Writes signed commits, and reads those that were written so, without running git.
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { type ParsedCommit, type Person, parseCommit, withSignature } from "./commit-object.ts";
import type { GitLocation } from "./environment.ts";
import { formatOf } from "./layout.ts";
import { loosePath, readLooseObject } from "./loose-object.ts";

/** The platform as the committer of commits. */
export interface CommitSigner {
  platform: Person;
  /** Returns the armoured signature of the unsigned commit. */
  sign(text: Buffer): string;
}

const compress = promisify<Buffer, Buffer>(deflate);

/** `text` is the unsigned commit, as commitText and rewriteCommit return it. Returns the object name. */
export async function writeSigned({
  location,
  text,
  signer,
}: {
  location: GitLocation;
  text: string;
  signer: Pick<CommitSigner, "sign">;
}): Promise<string> {
  const [, tree = ""] = /^tree ([0-9a-f]+)\n/.exec(text) ?? [];
  const format = formatOf(tree);
  const content = Buffer.from(withSignature(text, signer.sign(Buffer.from(text, "latin1")), format), "latin1");
  const object = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content]);
  const name = createHash(format).update(object).digest("hex");
  const path = loosePath(location, name);
  if (!existsSync(path)) await writeWhole(path, await compress(object));
  return name;
}

/** Under another name first, as git does: it removes what is left of that when it cleans up. */
async function writeWhole(path: string, content: Buffer): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true });
  const draft = join(directory, `tmp_obj_${randomUUID()}`);
  await writeFile(draft, content, { flag: "wx", mode: 0o444 });
  await rename(draft, path);
}

/** Null where the commit is not a file of its own, but in a pack, or in a repository that this one borrows from. */
export function readLooseCommit(location: GitLocation, name: string): ParsedCommit | null {
  const object = readLooseObject(location, name, maxBytes);
  return object?.type === "commit" ? parseCommit(object.content.toString("latin1")) : null;
}

/** Larger ones are read by git. */
const maxBytes = 1024 * 1024;
