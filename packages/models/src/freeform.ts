// Freeform tools on wires that have only functions: the text is the one argument.
import type { ToolSpec } from "@agentcli/protocol";
import { fields, parseJson, text } from "./untrusted.ts";

export const freeformParameters = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

export const withGrammar = ({ description, grammar }: Extract<ToolSpec, { form: "freeform" }>): string =>
  `${description}\n\nThe input follows this ${grammar.syntax} grammar:\n${grammar.definition}`;

export const freeformNames = (tools: ToolSpec[]): Set<string> =>
  new Set(tools.flatMap((tool) => (tool.form === "freeform" ? [tool.name] : [])));

/** The text that the model wrote; its arguments as they are if they are not such an object. */
export const freeformInput = (args: string): string => text(fields(parseJson(args)).input) ?? args;
