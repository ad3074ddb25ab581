// Writes proposals into the agent home. Nothing that is there already is changed.
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { dottedKey, type Leaf, leavesOf, loadToml, type Requirements, type Table, valueAt } from "@agentcli/project";
import { writeConfig } from "@agentcli/project/config-write";
import type { Proposal, Skipped } from "./proposal.ts";

export interface ApplyOptions {
  agentHome: string;
  requirements: Requirements;
  /** False: only says what would be done. */
  writes: boolean;
}

export interface Applied {
  /** What was written, or would be: a file, or a key in it. */
  taken: string[];
  skipped: Skipped[];
}

export async function applyProposal(proposal: Proposal, options: ApplyOptions): Promise<Applied> {
  const settings = await applySettings(proposal, options);
  const { agentHome, writes } = options;
  const files = [
    ...(proposal.instructions ? [{ path: join(agentHome, "AGENTS.md"), text: proposal.instructions.text }] : []),
    ...(proposal.rules.length > 0
      ? [{ path: join(agentHome, "rules", "imported.rules"), text: `${proposal.rules.join("\n")}\n` }]
      : []),
  ].map(({ path, text }) => ({ path, isNew: writeNew(path, text, writes) }));
  return {
    taken: [...settings.taken, ...files.filter(({ isNew }) => isNew).map(({ path }) => path)],
    skipped: [
      ...proposal.skipped,
      ...settings.skipped,
      ...files.filter(({ isNew }) => !isNew).map(({ path }) => ({ what: path, reason: "the file exists already" })),
    ],
  };
}

/** Returns whether there was no such file. */
function writeNew(path: string, text: string, writes: boolean): boolean {
  if (!writes) return !existsSync(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600 });
    // Whole or not at all, and never over another file.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function applySettings(proposal: Proposal, { agentHome, requirements, writes }: ApplyOptions): Promise<Applied> {
  const path = join(agentHome, "config.toml");
  const current = await readConfig(path);
  const leaves = [...leavesOf(proposal.settings)].filter(({ value }) => !isEmpty(value));
  const isSet = (leaf: Leaf) => valueAt(current, unitOf(leaf.path)) !== undefined;
  const fresh = leaves.filter((leaf) => !isSet(leaf));
  const units = [...new Set(leaves.filter(isSet).map((leaf) => dottedKey(unitOf(leaf.path))))];
  if (writes && fresh.length > 0) {
    const edits = fresh.map((leaf) => ({ key: dottedKey(leaf.path), value: leaf.value, merge: "replace" as const }));
    const written = await writeConfig({ path, edits, expectedVersion: undefined, requirements });
    if (written.kind === "refused") throw new CommandError("usage", `${path} was not changed. ${written.message}`);
  }
  return {
    taken: fresh.map((leaf) => `${path}: ${dottedKey(leaf.path)}`),
    skipped: units.map((unit) => ({ what: `${path}: ${unit}`, reason: "it is set already" })),
  };
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** Servers, providers and profiles are taken whole or not at all. */
const wholeTables = ["mcp_servers", "model_providers", "profiles"];
const unitOf = (path: string[]): string[] => (wholeTables.includes(path[0] ?? "") ? path.slice(0, 2) : path);

async function readConfig(path: string): Promise<Table> {
  if (!existsSync(path)) return {};
  const { parse } = await loadToml();
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CommandError("usage", `${path} is not valid TOML: ${(error as Error).message.trim()}`);
  }
}
