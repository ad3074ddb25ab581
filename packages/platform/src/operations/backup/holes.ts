// Limits what files with holes add to a backup: they occupy no space for the agent that made them, but are written out.
import type { FoundFile } from "./files.ts";

const maxHoleBytes = 4 * 1024 ** 3;

/** Returns whether the holes of this file, with those before it of the same agent, exceed the limit. */
export function openHoleLimit(): (file: FoundFile) => boolean {
  const used = new Map<string, number>();
  return ({ section, entry: { stats } }) => {
    const agent = section.path.split("/", 2).join("/");
    const holes = (used.get(agent) ?? 0) + Math.max(0, stats.size - stats.blocks * 512);
    if (holes > maxHoleBytes) return true;
    used.set(agent, holes);
    return false;
  };
}
