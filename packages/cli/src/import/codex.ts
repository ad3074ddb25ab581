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
  const settings = readFile(
    config,
    (text) => {
      const read = readForeignConfig(parse(text), config);
      skipped.push(...read.skipped.map(({ key, reason }) => ({ what: `${config}: ${key}`, reason })));
      return read.table;
    },
    {},
  );
  const instructions = readInstructions(readFile, join(home, "AGENTS.md"));
  if (readFile(join(home, "auth.json"), () => true, false))
    skipped.push({ what: join(home, "auth.json"), reason: "credentials are not copied; run agentcli login" });
  return { tool: "Codex", settings, instructions, rules: [], skipped };
}
