// Paths in a layer are relative to its file, not to the working directory.
import { isAbsolute, resolve } from "node:path";
import { isTable, type Table, valueAt, withValueAt } from "./table.ts";

const pathKeys = [["sandbox_workspace_write", "writable_roots"], ["model_instructions_file"], ["otel", "file"]];

/** The table is validated: strings are strings. */
export function resolvePaths(table: Table, directory: string): Table {
  const absolute = (path: string) => (isAbsolute(path) ? path : resolve(directory, path));
  const resolved = pathKeys.reduce((result, key) => {
    const value = valueAt(result, key);
    if (typeof value === "string") return withValueAt(result, key, absolute(value));
    return Array.isArray(value) ? withValueAt(result, key, value.map(absolute)) : result;
  }, table);
  return resolveSkillPaths(resolveAgentFiles(resolved, absolute), absolute);
}

function resolveSkillPaths(table: Table, absolute: (path: string) => string): Table {
  const switches = valueAt(table, ["skills", "config"]);
  if (!Array.isArray(switches)) return table;
  const resolved = switches.map((each) =>
    isTable(each) && typeof each.path === "string" ? { ...each, path: absolute(each.path) } : each,
  );
  return withValueAt(table, ["skills", "config"], resolved);
}

function resolveAgentFiles(table: Table, absolute: (path: string) => string): Table {
  if (!isTable(table.agents)) return table;
  const agents = Object.entries(table.agents).map(([name, role]) =>
    isTable(role) && typeof role.config_file === "string"
      ? [name, { ...role, config_file: absolute(role.config_file) }]
      : [name, role],
  );
  return { ...table, agents: Object.fromEntries(agents) };
}
