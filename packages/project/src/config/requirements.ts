// Limits set by an administrator. Of several files the stricter wins, key by key.
import type { Requirements as RequirementsFile } from "@agentcli/protocol";
import type { ServerList } from "./allowed-servers.ts";
import { ConfigError } from "./config-error.ts";
import { inspected, readTable } from "./files.ts";
import { describeOrigin, type Origins } from "./origin.ts";
import { dottedKey, type Table, valueAt, withValueAt } from "./table.ts";

/** The only values a key may have. */
export interface Rule {
  key: string[];
  allowed: unknown[];
  /** The key of the requirements file, and the files that have it. */
  name: string;
  paths: string[];
}

export interface Requirements {
  rules: Rule[];
  managedHooksOnly: boolean;
  /** Hooks of every run, with the file of each table. */
  managedHooks: { path: string; hooks: Table }[];
  /** Lists of the only MCP servers; each must allow a server. */
  serverLists: ServerList[];
}

export const noRequirements: Requirements = { rules: [], managedHooksOnly: false, managedHooks: [], serverLists: [] };

export async function readRequirements(paths: string[]): Promise<Requirements> {
  const files: { path: string; table: RequirementsFile }[] = [];
  for (const path of paths) {
    const table = await readTable(path);
    if (table === null) continue;
    // An error even where the configuration is not strict: an unknown requirement cannot be enforced.
    await inspected({ table, source: path, declared: "requirements", unknownKeys: "refuse" });
    files.push({ path, table: table as RequirementsFile });
  }
  return {
    rules: combine(files.flatMap(({ path, table }) => rulesOf(table, path))),
    managedHooksOnly: files.some(({ table }) => table.allow_managed_hooks_only === true),
    managedHooks: files.flatMap(({ path, table }) => (table.hooks ? [{ path, hooks: table.hooks }] : [])),
    serverLists: files.flatMap(({ path, table }) => (table.mcp_servers ? [{ path, servers: table.mcp_servers }] : [])),
  };
}

function rulesOf(table: RequirementsFile, path: string): Rule[] {
  const { allowed_sandbox_modes: modes, allowed_approval_policies: policies, features = {} } = table;
  const pins = Object.entries(features).map(([feature, value]) => ({
    key: ["features", feature],
    allowed: [value],
    name: `features.${feature}`,
    paths: [path],
  }));
  return [
    ...(modes ? [{ key: ["sandbox_mode"], allowed: modes, name: "allowed_sandbox_modes", paths: [path] }] : []),
    ...(policies
      ? [{ key: ["approval_policy"], allowed: policies, name: "allowed_approval_policies", paths: [path] }]
      : []),
    ...pins,
  ];
}

function combine(rules: Rule[]): Rule[] {
  const byName = new Map<string, Rule>();
  for (const rule of rules) {
    const existing = byName.get(rule.name);
    byName.set(rule.name, existing ? intersect(existing, rule) : rule);
  }
  return [...byName.values()];
}

function intersect(first: Rule, second: Rule): Rule {
  const paths = [...first.paths, ...second.paths];
  const allowed = first.allowed.filter((value) => second.allowed.includes(value));
  if (allowed.length > 0) return { ...first, allowed, paths };
  throw new ConfigError(`${first.name} leaves nothing: ${paths.join(" and ")} contradict each other. Fix one of them.`);
}

/** A default is replaced by the first allowed value; a configured value that is not allowed is an error. */
export function applyRules(
  config: Table,
  origins: Origins,
  rules: Rule[],
): { config: Table; origins: Origins; warnings: string[] } {
  const warnings: string[] = [];
  let result = config;
  const owners = new Map(origins);
  for (const rule of rules) {
    const key = dottedKey(rule.key);
    const value = valueAt(config, rule.key);
    if (value !== undefined && rule.allowed.includes(value)) continue;
    const origin = origins.get(key) ?? { kind: "default" };
    if (origin.kind !== "default") throw new ConfigError(refusal(rule, value, describeOrigin(origin)));
    const [first] = rule.allowed;
    result = withValueAt(result, rule.key, first);
    owners.set(key, { kind: "requirement", path: rule.paths.join(", ") });
    if (value !== undefined)
      warnings.push(
        `${key} was changed from ${value} to ${first}, as required by ${rule.name} in ${rule.paths.join(", ")}.`,
      );
  }
  return { config: result, origins: owners, warnings };
}

/** For a value from another source, such as a resumed thread; undefined when it is allowed. */
export function refusalOf(requirements: Requirements, key: string, value: unknown, source: string): string | undefined {
  const rule = requirements.rules.find((candidate) => dottedKey(candidate.key) === key);
  return !rule || rule.allowed.includes(value) ? undefined : refusal(rule, value, source);
}

const refusal = ({ key, allowed, name, paths }: Rule, value: unknown, source: string): string =>
  `${source}: ${dottedKey(key)} = ${JSON.stringify(value)} is not allowed by ${name} in ${paths.join(", ")}. Allowed: ${allowed.join(", ")}.`;
