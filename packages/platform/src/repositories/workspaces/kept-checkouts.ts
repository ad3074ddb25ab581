// Small checkouts in memory, as git wrote them: most agents begin with one of few commits, and the next one gets the same files
// and index without git.
import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

interface KeptCheckout {
  /** Parents come before their children. */
  directories: string[];
  files: KeptFile[];
  index: Buffer;
  bytes: number;
}

/** Its time is that of the index, by which git knows that it is unchanged. */
type KeptFile = { path: string; seconds: number } & ({ target: Buffer } | { content: Buffer; mode: number });

export interface KeptCheckouts {
  /** False if it is not kept. Into a directory that has nothing but the git directory, which no agent can reach yet. */
  write(key: string, path: string): boolean;
  /** Keeps what git has just written there, if it is small. */
  keep(key: string, path: string): void;
}

/** Written synchronously: 35 µs a file. */
const maxFiles = 200;
const maxBytes = 1024 * 1024;

/** `maxTotalBytes` of all of them; those that were not used for the longest time go first. */
export function openKeptCheckouts(maxTotalBytes: number): KeptCheckouts {
  const kept = new Map<string, KeptCheckout>();
  let total = 0;
  const remove = (key: string): KeptCheckout | undefined => {
    const checkout = kept.get(key);
    kept.delete(key);
    total -= checkout?.bytes ?? 0;
    return checkout;
  };
  const add = (key: string, checkout: KeptCheckout): void => {
    kept.set(key, checkout);
    total += checkout.bytes;
    for (const oldest of kept.keys()) {
      if (total <= maxTotalBytes) return;
      remove(oldest);
    }
  };
  return {
    write(key, path) {
      const checkout = remove(key);
      if (checkout === undefined) return false;
      add(key, checkout);
      writeCheckout(checkout, path);
      return true;
    },
    keep(key, path) {
      remove(key);
      const checkout = readCheckout(path);
      if (checkout !== null) add(key, checkout);
    },
  };
}

function writeCheckout({ directories, files, index }: KeptCheckout, root: string): void {
  for (const directory of directories) mkdirSync(join(root, directory));
  for (const file of files) {
    const path = join(root, file.path);
    if ("target" in file) {
      symlinkSync(file.target, path);
      lutimesSync(path, file.seconds, file.seconds);
    } else {
      writeFileSync(path, file.content, { flag: "wx", mode: file.mode });
      utimesSync(path, file.seconds, file.seconds);
    }
  }
  writeFileSync(join(root, ".git/index"), index, { flag: "wx" });
}

/** Null if it is not small, or has a name that is not text. */
function readCheckout(root: string): KeptCheckout | null {
  const index = readFileSync(join(root, ".git/index"));
  const checkout: KeptCheckout = { directories: [], files: [], index, bytes: index.length };
  // The head of the index says how many files it has.
  if (index.readUInt32BE(8) > maxFiles) return null;
  const open = [""];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop())
    for (const name of readdirSync(join(root, parent))) {
      const path = join(parent, name);
      if (path === ".git") continue;
      const { size, mode, mtimeMs } = lstatSync(join(root, path));
      const kind = mode & 0o170000;
      if (kind === 0o040000) {
        checkout.directories.push(path);
        open.push(path);
        continue;
      }
      checkout.bytes += size;
      if (name.includes("\uFFFD") || checkout.bytes > maxBytes) return null;
      const seconds = Math.floor(mtimeMs / 1000);
      if (kind === 0o120000)
        checkout.files.push({ path, seconds, target: readlinkSync(join(root, path), { encoding: "buffer" }) });
      else checkout.files.push({ path, seconds, mode: mode & 0o777, content: readFileSync(join(root, path)) });
    }
  return checkout;
}
