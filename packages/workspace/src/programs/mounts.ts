// Where paths are stored: a directory that is mounted twice has two names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contains } from "../paths.ts";

/** Turns a real path into one that is the same for each of its names: its device and its path there. */
export function readMounts(table = readMountTable()): (path: string) => string {
  // Of two mounts on one directory, the later one is seen.
  const mounts = mountsIn(table).reverse();
  return (path) => {
    const containing = mounts.filter(({ point }) => contains(point, path));
    const nearest = containing.reduce((one, other) => (other.point.length > one.point.length ? other : one), unmounted);
    const stored = join(nearest.root, path.slice(nearest.point === "/" ? 0 : nearest.point.length));
    return `${nearest.device}:${stored === "/" ? "" : stored}`;
  };
}

/** Finds further names of a real path: where a directory above it, or it or a part of it, is mounted a second time. */
export function readOtherNames(table = readMountTable()): (path: string) => string[] {
  const stored = readMounts(table);
  const mounts = mountsIn(table).map(({ device, root, point }) => ({
    point,
    root: `${device}:${root === "/" ? "" : root}`,
  }));
  return (path) => {
    const own = stored(path);
    const names = mounts.flatMap(({ root, point }) => {
      if (contains(own, root)) return [point];
      return contains(root, own) ? [join(point, own.slice(root.length))] : [];
    });
    // What another mount covers has no name there.
    return [...new Set(names)].filter((name) => name !== path && contains(own, stored(name)));
  };
}

/** Where something is mounted. */
export const mountPoints = (table = readMountTable()): string[] => mountsIn(table).map(({ point }) => point);

const mountsIn = (table: string) =>
  table
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields.length > 4)
    .map(([, , device = "", root = "", point = ""]) => ({ device, root: unescaped(root), point: unescaped(point) }));

const unmounted = { device: "", root: "/", point: "" };

/** Empty where the system has none: then every path is its own. */
export function readMountTable(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}

/** The kernel escapes blanks, line ends and backslashes in octal. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
