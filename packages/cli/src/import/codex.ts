// Codex: config.toml, which has our keys, and AGENTS.md of its home.
import { join } from "node:path";
import { loadForeignConfig, loadToml } from "@agentcli/project";
import { openReader, readInstructions } from "./files.ts";
import type { Proposal, Skipped } from "./proposal.ts";

export async function proposeFromCodex(home: string): Promise<Proposal> {
  const skipped: Skipped[] = [];
  const readFile = openReader(skipped);
  const [{ parse }, { readForeignConfig }] = await Promise.all([loadToml(), loadForeignConfig()]);
  const config = join(home, "config.toml");
  const { table, skipped: keys } = await readForeignConfig(readFile(config, parse, {}), config);
  skipped.push(...keys.map(({ key, reason }) => ({ what: `${config}: ${key}`, reason })));
  const instructions = readInstructions(readFile, join(home, "AGENTS.md"));
  if (readFile(join(home, "auth.json"), () => true, false))
    skipped.push({ what: join(home, "auth.json"), reason: "credentials are not copied; run agentcli login" });
  return { tool: "Codex", settings: table, instructions, rules: [], skipped };
}
