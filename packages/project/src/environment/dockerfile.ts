// Finds lines of a Dockerfile that copy the project into the image. The builder reads the file; here only COPY and ADD count.
import type { BuildPaths } from "./build-paths.ts";
import type { EnvironmentProblem } from "./problem.ts";

/** A context inside `.platform` holds nothing of the project. */
export function findProjectCopies(text: string, { dockerfile, context }: BuildPaths): EnvironmentProblem[] {
  if (context === ".platform" || context.startsWith(".platform/")) return [];
  return instructionsIn(text).flatMap(({ line, instruction }) => {
    const [word = "", ...rest] = instruction.replace(/^onbuild\s+/i, "").split(/\s+/);
    if (!/^(?:copy|add)$/i.test(word) || !copiesAll(rest)) return [];
    const reason = `${word.toUpperCase()} copies the project into the image. Copy only the files that the image needs, such as lock files; the platform checks out the project itself`;
    return [{ file: dockerfile, line, column: 1, member: "", reason }];
  });
}

interface Instruction {
  line: number;
  instruction: string;
}

/** Lines joined where they continue, without comments and without the contents of here-documents. */
function instructionsIn(text: string): Instruction[] {
  const found: Instruction[] = [];
  let open: Instruction | null = null;
  let ends: string[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (ends.length > 0) {
      if (raw.replace(/^\t+/, "") === ends[0]) ends = ends.slice(1);
      continue;
    }
    if (/^\s*(?:#.*)?$/.test(raw)) continue;
    const current: Instruction = open ?? { line: index + 1, instruction: "" };
    const continues = /[\\`]\s*$/.test(raw);
    current.instruction = `${current.instruction} ${raw.replace(/[\\`]\s*$/, "")}`.trim();
    open = continues ? current : null;
    if (continues) continue;
    found.push(current);
    ends = [...current.instruction.matchAll(/<<-?["']?(\w+)["']?/g)].map(([, name = ""]) => name);
  }
  return open === null ? found : [...found, open];
}

function copiesAll(words: string[]): boolean {
  if (words.some((word) => /^--from=/i.test(word))) return false;
  const given = argumentsOf(words.filter((word) => !word.startsWith("--")));
  return given.slice(0, -1).some((source) => wholeContext.test(source));
}

/** Also in the form of a JSON array. */
function argumentsOf(words: string[]): string[] {
  try {
    const list: unknown = JSON.parse(words.join(" "));
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // In the form of words.
  }
  return words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}

/** `.`, `/`, `./`, `*`, `./*`, `**`: whatever stands for all of the context. */
const wholeContext = /^(?:\.?\/)*(?:\.|\*{1,2}(?:\/\*)?)?\/?$/;
