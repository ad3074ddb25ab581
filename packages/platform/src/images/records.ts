// Images in the data directory: one file each, named by its digest, and a link to the one that is the base.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export interface ImageRecord {
  /** Of its layer. */
  digest: string;
  /** For people: what it was made from. */
  source: string;
  madeAt: string;
  /** Environment variables that it sets. */
  env: Record<string, string>;
}

export interface ImageRecords {
  add(record: ImageRecord): void;
  list(): ImageRecord[];
  base(): ImageRecord | null;
  /** Of an image that was added. */
  setBase(digest: string): void;
  remove(digest: string): void;
}

const baseName = "base";

export function openImageRecords(directory: string): ImageRecords {
  const pathOf = (digest: string) => join(directory, `${digest}.json`);
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as ImageRecord;
  return {
    add(record) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const draft = join(directory, `.${record.digest}.${process.pid}`);
      writeFileSync(draft, JSON.stringify(record), { mode: 0o600, flush: true });
      renameSync(draft, pathOf(record.digest));
    },
    list: () =>
      existsSync(directory)
        ? readdirSync(directory)
            .filter((name) => /^sha256-[0-9a-f]{64}\.json$/.test(name))
            .map((name) => read(join(directory, name)))
            .sort((left, right) => right.madeAt.localeCompare(left.madeAt))
        : [],
    base: () => (existsSync(join(directory, baseName)) ? read(join(directory, baseName)) : null),
    setBase(digest) {
      const draft = join(directory, `.${baseName}.${process.pid}`);
      rmSync(draft, { force: true });
      symlinkSync(`${digest}.json`, draft);
      renameSync(draft, join(directory, baseName));
    },
    remove: (digest) => rmSync(pathOf(digest), { force: true }),
  };
}
