// Every key of the configuration with the variable that sets it and how its text is read.
import { PlatformConfig } from "@agentcli/protocol";
import { z } from "zod";

export interface Key {
  /** Dotted: `network.allow_private`. */
  name: string;
  path: string[];
  /** `PLATFORM_NETWORK_ALLOW_PRIVATE` */
  variable: string;
  kind: "text" | "number" | "boolean" | "list" | "table";
}

interface Shape {
  type?: string;
  properties?: Record<string, Shape>;
}

const kinds: Record<string, Key["kind"]> = {
  integer: "number",
  number: "number",
  boolean: "boolean",
  array: "list",
  object: "table",
};

export const keys: Key[] = keysIn(z.toJSONSchema(PlatformConfig, { io: "input", reused: "inline" }) as Shape, []);

function keysIn(shape: Shape, path: string[]): Key[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => {
    const here = [...path, name];
    return inner.properties ? keysIn(inner, here) : [keyAt(here, inner)];
  });
}

function keyAt(path: string[], { type = "string" }: Shape): Key {
  return { name: path.join("."), path, variable: variableOf(path), kind: kinds[type] ?? "text" };
}

export function variableOf(path: string[]): string {
  return `PLATFORM_${path.join("_").toUpperCase().replace(/\W/g, "_")}`;
}

/** The value that a text stands for; what it cannot be is found by the schema. */
export function readText(text: string, kind: Key["kind"]): unknown {
  switch (kind) {
    case "text":
      return text;
    case "number":
      return text.trim() === "" ? text : Number(text);
    case "boolean":
      return { true: true, false: false }[text] ?? text;
    case "list":
      return text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    case "table":
      return readTable(text);
  }
}

function readTable(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
