// Keeps the packs of a hosted repository few: each push adds one, and each agent that begins gets a copy of all.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { gitSucceeds } from "../git/index.ts";
import type { HostedRepository } from "./hosted-repository.ts";

const maxPacks = 20;
const limitMs = 10 * 60_000;
const running = new Set<string>();

/**
 * Joins packs of similar size, so that a large one is not written again for each small push. Objects stay, also those that no
 * branch has. If it fails, the next push tries again.
 */
export async function joinPacks({ directory }: Pick<HostedRepository, "directory">): Promise<void> {
  const packs = (await readdir(join(directory, "objects/pack"))).filter((name) => name.endsWith(".pack"));
  if (packs.length <= maxPacks || running.has(directory)) return;
  running.add(directory);
  try {
    await gitSucceeds({ location: { directory }, args: ["repack", "-d", "-q", "-n", "--geometric=2"], limitMs });
  } finally {
    running.delete(directory);
  }
}
