// Configuration of a repository: `.agentcli/config.toml` from its root down to the working directory.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Project } from "../trust/project.ts";
import { readLayerFile, type UnknownKeys } from "./files.ts";
import type { Layer } from "./origin.ts";
import { dottedKey, type Table, valueAt, withoutValueAt } from "./table.ts";

export interface ProjectFiles {
  project: Project;
  cwd: string;
  /** The agent home may be inside a project; its file is not part of the project. */
  home: string;
  unknownKeys: UnknownKeys;
  isTrusted(directory: string): boolean;
}

/** The nearest to the working directory comes last, and wins. */
export async function readProjectLayers(files: ProjectFiles): Promise<{ layers: Layer[]; warnings: string[] }> {
  const layers: Layer[] = [];
  const warnings: string[] = [];
  for (const directory of directoriesBetween(files.project.root, files.cwd)) {
    const folder = join(directory, ".agentcli");
    const path = join(folder, "config.toml");
    if (folder === files.home || !existsSync(path)) continue;
    const origin = { kind: "project", path } as const;
    if (!files.isTrusted(directory)) {
      const reason = `${path} is not used: the project is not trusted. Trust it with: agentcli trust ${files.project.root}`;
      layers.push({ state: "disabled", origin, reason });
      warnings.push(reason);
      continue;
    }
    const read = await readLayerFile(path, files.unknownKeys);
    const allowed = withoutForbidden(read?.table ?? {}, path);
    layers.push({ state: "enabled", origin, table: allowed.table });
    warnings.push(...(read?.warnings ?? []), ...allowed.warnings);
  }
  return { layers, warnings };
}

function directoriesBetween(root: string, cwd: string): string[] {
  const directories = [cwd];
  for (let here = cwd; here !== root && here !== dirname(here); here = dirname(here))
    directories.unshift(dirname(here));
  return directories;
}

/** A repository must not choose providers, notification programs, or trust. */
const forbidden = [
  ["openai_base_url"],
  ["model_provider"],
  ["model_providers"],
  ["model_fallback"],
  ["auth"],
  ["platform"],
  ["notify"],
  ["profile"],
  ["profiles"],
  ["projects"],
  ["project_root_markers"],
  ["otel"],
  ["features", "respect_system_proxy"],
];

function withoutForbidden(table: Table, path: string): { table: Table; warnings: string[] } {
  const found = forbidden.filter((key) => valueAt(table, key) !== undefined);
  if (found.length === 0) return { table, warnings: [] };
  const names = found.map(dottedKey).join(", ");
  return {
    table: found.reduce(withoutValueAt, table),
    warnings: [`${path}: a project may not set ${names}; ignored. Set it in the config.toml of your agent home.`],
  };
}
