// Access control lists of files, which the mode does not show: a list can let another user write.
import { loadKoffi } from "../koffi.ts";

export interface ListedWriter {
  kind: "user" | "group";
  id: number;
}

/**
 * Whom the list of a file names and lets write. Empty without a list, and without koffi, which is an optional dependency.
 * Undefined where the list cannot be read.
 */
export function listedWriters(path: string): ListedWriter[] | undefined {
  if (process.platform !== "linux") return [];
  if (library === undefined) library = openLibrary();
  const list = library === null ? "none" : library.readList(path);
  if (list === "none") return [];
  return list === "unreadable" ? undefined : writersIn(list);
}

let library: ReturnType<typeof openLibrary> | undefined;

function openLibrary() {
  try {
    const koffi = loadKoffi();
    const getAttribute = koffi.load(null).func("getxattr", "long", ["str", "str", "void *", "size_t"]);
    const buffer = Buffer.alloc(maxBytes);
    return {
      readList(path: string): Buffer | "none" | "unreadable" {
        const length = Number(getAttribute(path, "system.posix_acl_access", buffer, buffer.length));
        if (length >= 0) return buffer.subarray(0, length);
        return absent.has(koffi.errno()) ? "none" : "unreadable";
      },
    };
  } catch {
    return null;
  }
}

/** Of an attribute, in Linux. */
const maxBytes = 65_536;

/** No such attribute; a file system without attributes. */
const absent = new Set([61, 95]);

/** A version, then entries: what kind, what it allows, and the number of the user or group. */
function writersIn(list: Buffer): ListedWriter[] | undefined {
  if (list.length < 4 || list.readUInt32LE(0) !== 2) return undefined;
  const entries = Array.from({ length: Math.floor((list.length - 4) / 8) }, (_, index) => {
    const at = 4 + index * 8;
    return { tag: list.readUInt16LE(at), allows: list.readUInt16LE(at + 2), id: list.readUInt32LE(at + 4) };
  });
  const mask = entries.find(({ tag }) => tag === maskTag)?.allows ?? 7;
  return entries
    .filter(({ allows }) => (allows & mask & 2) !== 0)
    .flatMap(({ tag, id }): ListedWriter[] => {
      const kind = kinds.get(tag);
      return kind === undefined ? [] : [{ kind, id }];
    });
}

const maskTag = 16;
const kinds = new Map<number, ListedWriter["kind"]>([
  [2, "user"],
  [8, "group"],
]);
