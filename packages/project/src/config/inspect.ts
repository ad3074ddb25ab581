// Compares a table with the shape of a configuration: what is wrong with it, and which of its keys are unknown.
import type { Shape } from "@agentcli/protocol";
import { configShape, requirementsShape } from "@agentcli/protocol/config-shapes";
import { nearest } from "../nearest.ts";
import { dottedKey, isTable, type Table } from "./table.ts";

export interface Inspection {
  /** `message`: the key, and what it must be. */
  wrong: { path: string[]; message: string }[];
  unknown: { path: string[]; meant: string | undefined }[];
  /** Known keys whose value has no effect. */
  idle: string[][];
}

const shapes = { config: configShape, requirements: requirementsShape };

export const inspect = (table: Table, declared: keyof typeof shapes): Inspection =>
  inspectShape(table, shapes[declared]);

export function inspectShape(table: Table, shape: Shape): Inspection {
  const result: Inspection = { wrong: [], unknown: [], idle: [] };
  look(table, shape, [], result);
  return result;
}

function look(value: unknown, shape: Shape, path: string[], result: Inspection): void {
  const error = describeError(value, shape);
  if (shape.noEffect && !error && !shape.worksAs?.includes(value as string | boolean)) result.idle.push(path);
  if (shape.anyOf) lookAtChoice(value, shape.anyOf, path, result);
  else if (error) result.wrong.push({ path, message: `${dottedKey(path) || "the configuration"} ${error}` });
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(item, shape.items ?? {}, [...path, String(index)], result);
  } else if (isTable(value)) lookInside(value, shape, path, result);
}

function lookInside(table: Table, shape: Shape, path: string[], result: Inspection): void {
  const { properties = {}, additionalProperties: others } = shape;
  if (!shape.properties && !others) return;
  for (const [key, value] of Object.entries(table)) {
    const inner = Object.hasOwn(properties, key) ? properties[key] : others;
    const here = [...path, key];
    if (inner) look(value, inner, here, result);
    else result.unknown.push({ path: here, meant: nearest(key, Object.keys(properties)) });
  }
}

/** The first alternative that matches; if none does, the error of the first. */
function lookAtChoice(value: unknown, choices: Shape[], path: string[], result: Inspection): void {
  const attempts = choices.map((choice) => {
    const inspection: Inspection = { wrong: [], unknown: [], idle: [] };
    look(value, choice, path, inspection);
    return inspection;
  });
  const best = attempts.find(({ wrong }) => wrong.length === 0) ?? attempts[0];
  result.wrong.push(...(best?.wrong ?? []));
  result.unknown.push(...(best?.unknown ?? []));
  result.idle.push(...(best?.idle ?? []));
}

function describeError(value: unknown, shape: Shape): string | undefined {
  if (shape.enum) {
    if (typeof value === "string" && shape.enum.includes(value)) return undefined;
    return `must be one of ${shape.enum.join(", ")}, not ${typeof value === "string" ? JSON.stringify(value) : kindOf(value)}`;
  }
  if (shape.type && !hasType(value, shape.type)) return `must be ${nameOf(shape.type)}, not ${kindOf(value)}`;
  if (typeof value === "number") return describeRangeError(value, shape);
  if (typeof value === "string" && shape.pattern && !new RegExp(shape.pattern, "u").test(value))
    return `must be ${shape.expected ?? `text like ${shape.pattern}`}, not ${JSON.stringify(value)}`;
  if (Array.isArray(value) && value.length < (shape.minItems ?? 0)) return `must name at least ${shape.minItems}`;
  return undefined;
}

function describeRangeError(value: number, { minimum, exclusiveMinimum, maximum }: Shape): string | undefined {
  if (minimum !== undefined && !(value >= minimum)) return `must be ${minimum} or more, not ${value}`;
  if (exclusiveMinimum !== undefined && !(value > exclusiveMinimum))
    return `must be more than ${exclusiveMinimum}, not ${value}`;
  if (maximum !== undefined && !(value <= maximum)) return `must be ${maximum} or less, not ${value}`;
  return undefined;
}

type Type = NonNullable<Shape["type"]>;

function hasType(value: unknown, type: Type): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isTable(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type && (type !== "number" || Number.isFinite(value));
}

/** Type names of TOML, where they differ from those of JSON. */
const nameOf = (type: Type): string => ({ array: "a list", object: "a table" })[type as string] ?? type;

/** Not the value itself: it may be a misplaced secret. */
function kindOf(value: unknown): string {
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  return isTable(value) ? "a table" : `a ${typeof value}`;
}
