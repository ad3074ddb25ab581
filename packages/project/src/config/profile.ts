// A profile is a separate file next to config.toml, selected by name.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./config-error.ts";

const ending = ".config.toml";

export function findProfile(home: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new ConfigError(`--profile ${name}: a profile is named with letters, digits, - and _ only.`);
  const path = join(home, `${name}${ending}`);
  if (existsSync(path)) return path;
  const existing = listProfiles(home);
  const hint =
    existing.length > 0 ? `Available profiles: ${existing.join(", ")}.` : "Write that file, or leave out --profile.";
  throw new ConfigError(`There is no profile ${name}: ${path} does not exist. ${hint}`);
}

function listProfiles(home: string): string[] {
  if (!existsSync(home)) return [];
  const files = readdirSync(home).filter((file) => file.endsWith(ending) && file !== ending);
  return files.map((file) => file.slice(0, -ending.length)).sort();
}
