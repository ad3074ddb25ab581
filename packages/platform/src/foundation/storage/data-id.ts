// Tells data directories apart: servers that share one have the same id, and a restarted server has its former one.
import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const dataIdFile = "data-id";

export function readDataId(dataDirectory: string): string {
  const path = join(dataDirectory, dataIdFile);
  const draft = `${path}.${randomUUID()}`;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, randomUUID(), { mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    // Another server of this directory was first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, "utf8");
}
