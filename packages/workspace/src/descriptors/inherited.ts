// File descriptors this process inherited and would pass on: an open file outside would be a hole in the sandbox.
import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;

/** Other than the three standard streams. */
export function inheritedDescriptors(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").map(Number).filter(isInherited);
}

function isInherited(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor that listed the directory is closed by now.
    return false;
  }
}
