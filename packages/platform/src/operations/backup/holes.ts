// Limits what files with holes and files with several names add to a backup: they occupy no space for the agent that made
// them, but are written out, once for each name.
import type { FoundFile } from "./files.ts";

const maxHoleBytes = 4 * 1024 ** 3;

/** Returns whether what this file adds, with those before it of the same agent, exceeds the limit. Agents come one after another. */
export function openHoleLimit(): (file: FoundFile) => boolean {
  const used = new Map<string, number>();
  const named = new Set<number>();
  let current = "";
  return ({ section, entry: { stats } }) => {
    const agent = section.path.split("/", 2).join("/");
    if (agent !== current) named.clear();
    current = agent;
    const isKnown = stats.nlink > 1 && named.has(stats.ino);
    const occupied = isKnown ? 0 : stats.blocks * 512;
    const holes = (used.get(agent) ?? 0) + Math.max(0, stats.size - occupied);
    if (holes > maxHoleBytes) return true;
    used.set(agent, holes);
    if (stats.nlink > 1) named.add(stats.ino);
    return false;
  };
}
