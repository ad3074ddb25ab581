// `agentcli config show`: every effective key with its value, and where it comes from.
import {
  describeOrigin,
  dottedKey,
  type LoadedConfig,
  leavesOf,
  loadConfig,
  type Origin,
  tomlValue,
} from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configRequest, existingDirectory, flagWarnings } from "../../config/request.ts";
import { configOptions } from "../../config/run-options.ts";
import { masked } from "../../output/mask.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, { environment, print, reporter }: Program): Promise<number> {
  const options = configOptions(invocation);
  const cwd = existingDirectory(options.directory ?? ".", environment.cwd);
  const loaded = await loadConfig(configRequest(options, cwd, environment));
  for (const warning of [...flagWarnings(options, environment.cwd), ...loaded.warnings])
    reporter.log(`warning: ${warning}`);
  const rows = effectiveRows(loaded);
  if (invocation.has("json")) await print(`${JSON.stringify(rows, null, 2)}\n`);
  else await print(rows.map(invocation.has("origin") ? lineWithOrigin : line).join(""));
  return exitCodes.completed.code;
}

export interface EffectiveRow {
  key: string;
  value: unknown;
  origin: Origin;
}

/** Sorted by key; secrets are masked. */
export function effectiveRows({ config, origins }: LoadedConfig): EffectiveRow[] {
  return [...leavesOf(config)]
    .map(({ path, value }) => {
      const key = dottedKey(path);
      return { key, value: masked(path, value), origin: origins.get(key) ?? { kind: "default" as const } };
    })
    .sort((left, right) => (left.key < right.key ? -1 : 1));
}

const line = ({ key, value }: EffectiveRow): string => `${key} = ${tomlValue(value)}\n`;

/** Still TOML: the origin is a comment. */
const lineWithOrigin = ({ key, value, origin }: EffectiveRow): string =>
  `${key} = ${tomlValue(value)}  # ${describeOrigin(origin)}\n`;
