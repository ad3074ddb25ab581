// The effective configuration: layers from defaults to flags, limited by requirements.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@agentcli/protocol";
import { findProject, type Project } from "../trust/project.ts";
import { trustLevel } from "../trust/trusted.ts";
import { allowServers } from "./allowed-servers.ts";
import { defaults, type EffectiveConfig } from "./defaults.ts";
import { inspected, readLayerFile, type UnknownKeys } from "./files.ts";
import { type EnabledLayer, findOrigins, type Layer, type Origins } from "./origin.ts";
import { readOverrides } from "./overrides.ts";
import { findProfile } from "./profile.ts";
import { readProjectLayers } from "./project-layers.ts";
import { resolvePaths } from "./relative.ts";
import { applyRules, type Requirements, readRequirements } from "./requirements.ts";
import { mergeTables, type Table, valueAt, withValueAt } from "./table.ts";

export interface ConfigRequest {
  /** The agent home, with config.toml and the profiles. */
  home: string;
  systemDirectory: string;
  requirementFiles: string[];
  /** The working directory of the run, absolute and without symbolic links. */
  cwd: string;
  profile?: string;
  /** `-c key=value`, in order. */
  overrides: string[];
  flags: FlagValue[];
  unknownKeys: UnknownKeys;
  userConfig: "read" | "ignored";
  projectTrust: "configured" | "granted";
}

/** The value of a flag: the value of its key, or additional items for its list. */
export type FlagValue = { flag: string; key: string[] } & ({ value: unknown } | { items: unknown[] });

export interface LoadedConfig {
  config: EffectiveConfig;
  /** Set on the command line, which unlike files may widen the policy of a resumed thread. */
  overridden: Config;
  origins: Origins;
  warnings: string[];
  /** From low to high. */
  layers: Layer[];
  requirements: Requirements;
  /** MCP servers that requirements do not allow, with the reason. */
  blockedServers: Record<string, string>;
  project: Project & { trusted: boolean };
}

export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const base = await readBaseLayers(request);
  const override = await readOverrideLayer(request);
  const outerConfig = merged([...base.layers, ...override.layers]) as EffectiveConfig;
  const project = findProject(request.cwd, outerConfig.project_root_markers);
  const isTrusted = (directory: string) =>
    request.projectTrust === "granted" || trustLevel(directory, project, outerConfig.projects ?? {}) === "trusted";
  const { home, cwd, unknownKeys } = request;
  const local = await readProjectLayers({ project, cwd, home, unknownKeys, isTrusted });
  const files = [...base.layers, ...local.layers, ...override.layers];
  const layers = [...files, ...flagLayers(request.flags, merged(files))];
  const requirements = await readRequirements(request.requirementFiles);
  const config = merged(layers);
  const ruled = applyRules(config, findOrigins(config, layers.filter(isEnabled)), requirements.rules);
  const effective = ruled.config as EffectiveConfig;
  const { servers, blocked } = allowServers(effective.mcp_servers, requirements.serverLists);
  const models = await readModels(request);
  return {
    config: { ...effective, ...(servers && { mcp_servers: servers }), ...models },
    overridden: merged(layers.filter(({ origin }) => origin.kind === "override" || origin.kind === "flag")),
    origins: ruled.origins,
    warnings: [
      ...base.warnings,
      ...local.warnings,
      ...override.warnings,
      ...ruled.warnings,
      ...blockedWarnings(blocked),
    ],
    layers,
    requirements,
    blockedServers: blocked,
    project: { ...project, trusted: isTrusted(cwd) },
  };
}

/** Loaded only where there is such a file. */
async function readModels({ home, userConfig }: ConfigRequest): Promise<Pick<EffectiveConfig, "catalogue">> {
  const path = join(home, "models.toml");
  if (userConfig === "ignored" || !existsSync(path)) return {};
  return { catalogue: await (await import("./models-file.ts")).readModelsFile(path) };
}

const blockedWarnings = (blocked: Record<string, string>): string[] =>
  Object.entries(blocked).map(([name, reason]) => `The MCP server ${name} is not used: ${reason}.`);

interface Layers {
  layers: Layer[];
  warnings: string[];
}

async function readBaseLayers(request: ConfigRequest): Promise<Layers> {
  const layers: Layer[] = [{ state: "enabled", origin: { kind: "default" }, table: defaults }];
  const warnings: string[] = [];
  for (const origin of baseFiles(request)) {
    const read = await readLayerFile(origin.path, request.unknownKeys);
    if (!read) continue;
    layers.push({ state: "enabled", origin, table: read.table });
    warnings.push(...read.warnings);
  }
  return { layers, warnings };
}

function baseFiles({ home, systemDirectory, profile, userConfig }: ConfigRequest) {
  const system = { kind: "system", path: join(systemDirectory, "config.toml") } as const;
  if (userConfig === "ignored") return [system];
  const user = { kind: "user", path: join(home, "config.toml") } as const;
  if (profile === undefined) return [system, user];
  return [system, user, { kind: "profile", path: findProfile(home, profile) } as const];
}

async function readOverrideLayer({ overrides, cwd, unknownKeys }: ConfigRequest): Promise<Layers> {
  if (overrides.length === 0) return { layers: [], warnings: [] };
  const { parse } = await import("./toml.ts");
  const overrideTable = readOverrides(overrides, parse);
  const { table, warnings } = await inspected({ table: overrideTable, source: "-c", declared: "config", unknownKeys });
  const origin = { kind: "override" } as const;
  return { layers: [{ state: "enabled", origin, table: resolvePaths(table, cwd) }], warnings };
}

/** Flags are validated by the parser; additional items are appended to the list. */
function flagLayers(flags: FlagValue[], below: Table): Layer[] {
  return flags.map((setting) => {
    const listed = valueAt(below, setting.key);
    const value = "value" in setting ? setting.value : [...(Array.isArray(listed) ? listed : []), ...setting.items];
    return {
      state: "enabled",
      origin: { kind: "flag", flag: setting.flag },
      table: withValueAt({}, setting.key, value),
    };
  });
}

const isEnabled = (layer: Layer): layer is EnabledLayer => layer.state === "enabled";

const merged = (layers: Layer[]): Table =>
  layers.filter(isEnabled).reduce<Table>((result, { table }) => mergeTables(result, table), {});
