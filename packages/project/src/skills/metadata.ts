// `<skill>/agents/*.yaml`: display, whether the model may use the skill, and dependencies. Invalid files are ignored.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTextFile } from "../files/text-file.ts";
import { parseYaml, type YamlValue } from "../front-matter/yaml.ts";
import { visibleText } from "../sanitize/visible.ts";
import type { SkillPath } from "./roots.ts";

export interface SkillMetadata {
  /** display_name, short_description, icon_small, icon_large, brand_color, default_prompt. */
  interface: Record<string, string>;
  mayBeChosen: boolean;
  dependencies: SkillDependency[];
}

export interface SkillDependency {
  /** Such as mcp or env_var. */
  type: string;
  value: string;
  [detail: string]: string;
}

/** Of several files, our own has precedence. */
export function readMetadata({ path, within = null }: SkillPath): SkillMetadata {
  const folder = join(dirname(path), "agents");
  const tables = existsSync(folder) ? filesIn(folder).map((file) => readTable(file, within)) : [];
  const all = Object.assign({}, ...tables.map(({ interface: shown }) => textsOf(shown)));
  const chosen = tables.map(({ policy }) => tableOf(policy).allow_implicit_invocation).findLast(isBoolean);
  const needed = tables.flatMap(({ dependencies }) => dependenciesOf(tableOf(dependencies).tools));
  return { interface: all, mayBeChosen: chosen ?? true, dependencies: needed };
}

const agentcliFile = "agentcli.yaml";
const maxBytes = 65_536;

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name) && name !== agentcliFile);
    return [...names.sort(), agentcliFile].map((name) => join(folder, name));
  } catch {
    return [];
  }
}

type YamlTable = Record<string, YamlValue>;

function readTable(path: string, within: string | null): YamlTable {
  const file = readTextFile(path, { maxBytes, within });
  if (file.kind !== "text" || file.isCut) return {};
  const parsed = parseYaml(visibleText(file.text).text.split(/\r?\n/));
  return parsed.kind === "values" ? parsed.values : {};
}

const isTable = (value: YamlValue | undefined): value is YamlTable =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const tableOf = (value: YamlValue | undefined): YamlTable => (isTable(value) ? value : {});
const isBoolean = (value: YamlValue | undefined): value is boolean => typeof value === "boolean";

const textsOf = (value: YamlValue | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tableOf(value)).flatMap(([key, text]) => (isText(text) ? [[key, String(text)]] : [])),
  );

const isText = (value: YamlValue): boolean => typeof value === "string" || typeof value === "number";

const dependenciesOf = (value: YamlValue | undefined): SkillDependency[] =>
  (Array.isArray(value) ? value : []).flatMap((item) => {
    const { type, value: needed, ...details } = textsOf(item);
    return type && needed ? [{ type, value: needed, ...details }] : [];
  });
