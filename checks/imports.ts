// Finds the imports of a source file: static, dynamic, re-exports; type-only ones are marked.
import { lineAt, viewSource } from "./source.ts";

export interface Import {
  specifier: string;
  /** `type` vanishes at run time, `dynamic` is loaded when first needed, `static` is loaded at once. */
  kind: "static" | "dynamic" | "type";
  line: number;
}

export function findImports(source: string): Import[] {
  const { code } = viewSource(source);
  return patterns
    .flatMap((pattern) => [...code.matchAll(pattern)])
    .map((match) => {
      const quote = match.index + match[0].length - 1;
      const end = source.indexOf(source[quote] ?? '"', quote + 1);
      return { specifier: source.slice(quote + 1, end), kind: kindOf(match[0]), line: lineAt(source, match.index) };
    });
}

function kindOf(statement: string): Import["kind"] {
  if (/\(\s*.$/.test(statement)) return "dynamic";
  // In `import type from "x"` and `import type, { a } from "x"` the word is a name.
  return /^(?:import|export)\s+type\b(?!\s*(?:,|from\b))/.test(statement) ? "type" : "static";
}

// Each ends with the opening quote of the specifier.
const patterns = [
  /(?<![.\w$])(?:import|export)\b[^;'"`()=]*?\bfrom\s*["']/g,
  /(?<![.\w$])import\s*["']/g,
  /(?<![.\w$])(?:import|require)\s*\(\s*["'`]/g,
];
