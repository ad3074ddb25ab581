// Directories in the temporary directory of the system. Those of processes that were killed are removed by the next one.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasLiveOwner, ownerSuffix } from "./owner-name.ts";

/** Only this user can read it. The caller removes it. */
export async function makeTemporaryDirectory(kind: "ssh" | "host-base"): Promise<string> {
  const parent = tmpdir();
  const prefix = `platform-${kind}-`;
  // Those of other users stay.
  for (const name of await readdir(parent))
    if (name.startsWith(prefix) && !hasLiveOwner(name))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  const path = join(parent, `${prefix}${ownerSuffix()}-${randomBytes(4).toString("hex")}`);
  await mkdir(path, { mode: 0o700 });
  return path;
}
