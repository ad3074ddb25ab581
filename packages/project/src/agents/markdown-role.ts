// `.platform/agents/*.md`: front matter and, as the body, the instructions.
import { basename, extname } from "node:path";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import type { YamlValue } from "../front-matter/yaml.ts";
import type { ParsedRole } from "./toml-role.ts";

export function parseMarkdownRole(text: string, source: string): ParsedRole {
  const matter = readFrontMatter(text);
  if (matter.kind === "problem") return { problem: `line ${matter.line}: ${matter.message}` };
  if (matter.kind !== "matter") return { problem: "it does not begin with front matter between two --- lines" };
  const { values, body } = matter;
  const name = (textOf(values.name) || basename(source, extname(source))).trim().replace(/[\s_]+/g, "-");
  if (!/^[\w-]{1,64}$/.test(name))
    return { problem: `the name ${name} must be letters, digits and hyphens, 64 at most` };
  if (body.trim() === "") return { problem: "it has no body, which would be its instructions" };
  const tools = toolsOf(values.tools);
  return {
    name,
    description: textOf(values.description),
    instructions: body.trim(),
    source,
    ...(textOf(values.model) !== "" && { model: textOf(values.model) }),
    ...(textOf(values.effort) !== "" && { effort: textOf(values.effort) }),
    ...(tools.length > 0 && { tools }),
    ...(typeof values.readonly === "boolean" && { readonly: values.readonly }),
  };
}

const textOf = (value: YamlValue | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value).trim() : "";

/** A list, or names with commas between them. */
const toolsOf = (value: YamlValue | undefined): string[] =>
  (Array.isArray(value) ? value : [value])
    .flatMap((item) => textOf(item).split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
