// Access control lists of files, which the mode does not show: a list can let another user write.
import { loadKoffi } from "../koffi.ts";

/** Also true where it cannot be found out. */
export function hasAccessList(path: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    library ??= openLibrary();
    return library.hasAttribute(path, "system.posix_acl_access");
  } catch {
    return true;
  }
}

let library: ReturnType<typeof openLibrary> | undefined;

function openLibrary() {
  const koffi = loadKoffi();
  const getAttribute = koffi.load(null).func("getxattr", "long", ["str", "str", "void *", "size_t"]);
  return {
    hasAttribute: (path: string, name: string): boolean =>
      getAttribute(path, name, null, 0) >= 0 || !absent.has(koffi.errno()),
  };
}

/** No such attribute; a file system without attributes. */
const absent = new Set([61, 95]);
