// Finds the rules files of each layer without reading them: a run without rules loads nothing else of this folder.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./config-error.ts";

export interface RuleLayer {
  /** The folder that contains `rules/*.rules`. */
  directory: string;
  kind: "system" | "user" | "project-trusted" | "project-untrusted";
}

export interface RuleFile {
  path: string;
  kind: RuleLayer["kind"];
}

export const findRuleFiles = (layers: RuleLayer[]): RuleFile[] =>
  layers.flatMap(({ directory, kind }) => {
    const folder = join(directory, "rules");
    const names = namesIn(folder).filter((name) => name.endsWith(".rules"));
    return names.sort().map((name) => ({ path: join(folder, name), kind }));
  });

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new ConfigError(`Error loading rules: ${folder} cannot be read: ${message}. Fix its permissions.`);
  }
}
