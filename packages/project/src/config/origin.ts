// The layers of a configuration, and the layer of each value.
import { dottedKey, leavesOf, type Table, valueAt } from "./table.ts";

export type Origin =
  | { kind: "default" }
  | { kind: "system" | "user" | "profile" | "project"; path: string }
  | { kind: "override" }
  | { kind: "flag"; flag: string }
  | { kind: "requirement"; path: string };

export type Layer = EnabledLayer | { state: "disabled"; origin: Origin; reason: string };
export interface EnabledLayer {
  state: "enabled";
  origin: Origin;
  table: Table;
}

/** By dotted key, as `config show` prints it. */
export type Origins = Map<string, Origin>;

/** For messages: the file, `-c`, the flag or `default`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "override":
      return "-c";
    case "flag":
      return origin.flag;
    case "system":
    case "user":
    case "profile":
    case "project":
    case "requirement":
      return origin.path;
  }
}

/** Layers from low to high; a value belongs to the highest that has it. */
export function findOrigins(config: Table, layers: EnabledLayer[]): Origins {
  const downwards = [...layers].reverse();
  const owner = (path: string[]) => downwards.find(({ table }) => valueAt(table, path) !== undefined);
  const found = [...leavesOf(config)].map(({ path }) => [dottedKey(path), owner(path)?.origin] as const);
  return new Map(found.map(([key, origin]) => [key, origin ?? { kind: "default" }]));
}
