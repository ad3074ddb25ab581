// Reads the arguments of a call: JSON that matches the schema of its tool, or is close enough to be understood.
import type { ToolName } from "@agentcli/protocol";
import { toolSchemas } from "@agentcli/protocol/tool-schemas";
import { coerceArguments } from "./coerce.ts";
import type { Parsed } from "./tool.ts";

export async function parseArguments(name: ToolName, input: string): Promise<Parsed> {
  const json = parseJson(input.trim() === "" ? "{}" : input);
  if (json.kind === "problem") return json;
  const validators = await import("@agentcli/protocol/validators/tools");
  const validate = validators[name];
  if (validate(json.args)) return json;
  const schema = toolSchemas[name];
  const { args, ignored } = coerceArguments(json.args, schema);
  if (validate(args)) return { kind: "arguments", args, notes: ignored.map((member) => ignoredNote(name, member)) };
  const given = ignored.length > 0 ? `; unknown: ${ignored.join(", ")}` : "";
  return {
    kind: "problem",
    message: `invalid arguments for ${name}: ${describeViolation(validate.errors?.[0])}${given}`,
  };
}

const ignoredNote = (name: ToolName, member: string): string =>
  `${name} has no argument ${member}: it was ignored. Its arguments: ${Object.keys(toolSchemas[name].properties).join(", ")}.`;

function parseJson(input: string): Parsed {
  try {
    return { kind: "arguments", args: JSON.parse(input) };
  } catch (error) {
    return { kind: "problem", message: `arguments are not valid JSON: ${(error as Error).message}` };
  }
}

interface Violation {
  instancePath: string;
  keyword: string;
  message?: string;
  params: Record<string, unknown>;
}

function describeViolation(violation: Violation | undefined): string {
  if (!violation) return "they do not match the schema";
  const where = violation.instancePath.slice(1).replaceAll("/", ".") || "the arguments";
  const extra = violation.params.additionalProperty ?? violation.params.allowedValues;
  return `${where} ${violation.message ?? "is not valid"}${extra === undefined ? "" : ` (${String(extra)})`}`;
}
