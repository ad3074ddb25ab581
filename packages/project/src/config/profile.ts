// A profile is a file of its own beside config.toml, chosen by name.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigProblem } from "./problem.ts";

const ending = ".config.toml";

export function findProfile(home: string, name: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new ConfigProblem(`--profile ${name}: a profile is named with letters, digits, - and _ only.`);
  const path = join(home, `${name}${ending}`);
  if (existsSync(path)) return path;
  const known = listProfiles(home);
  const hint = known.length > 0 ? `Known profiles: ${known.join(", ")}.` : "Write that file, or leave out --profile.";
  throw new ConfigProblem(`There is no profile ${name}: ${path} does not exist. ${hint}`);
}

function listProfiles(home: string): string[] {
  if (!existsSync(home)) return [];
  const files = readdirSync(home).filter((file) => file.endsWith(ending) && file !== ending);
  return files.map((file) => file.slice(0, -ending.length)).sort();
}
