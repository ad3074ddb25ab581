// AGENTS.md: of the user, then of the project from its root to the working directory, as one text for the model.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";

export interface InstructionSources {
  /** The project's top directory; `cwd` if there is none. */
  root: string;
  cwd: string;
  /** The agent home; null if there is no user. */
  home: string | null;
  /** Maximum bytes of all project files together; 0 reads none. */
  maxBytes: number;
  /** Fallback names where AGENTS.md is missing. */
  fallbackNames: string[];
}

export interface Instructions {
  texts: string[];
  /** The project's files they came from. */
  sources: string[];
  problems: FileProblem[];
}

export function readInstructions(sources: InstructionSources): Instructions {
  const user = sources.home === null ? { text: "", problems: [] } : readUserFile(sources.home);
  const project = readProject(sources, directoriesBetween(sources.root, sources.cwd));
  const documents = project.texts.map(({ text }) => text).join("\n\n");
  const whole = [user.text, documents].filter((text) => text !== "").join("\n\n--- project-doc ---\n\n");
  return {
    texts: whole === "" ? [] : [instructionMessage(sources.cwd, whole)],
    sources: project.texts.map(({ source }) => source),
    problems: [...user.problems, ...project.problems],
  };
}

export const instructionMessage = (directory: string, text: string): string =>
  `# AGENTS.md instructions for ${directory}\n\n<INSTRUCTIONS>\n${text}\n</INSTRUCTIONS>`;

export const defaultMaxBytes = 32_768;

/** Limited separately, because the user wrote it. */
const maxOwnBytes = 1_048_576;

function readUserFile(home: string): { text: string; problems: FileProblem[] } {
  const problems: FileProblem[] = [];
  for (const name of ["AGENTS.override.md", "AGENTS.md"]) {
    const file = readProjectText(join(home, name), { maxBytes: maxOwnBytes, within: null });
    problems.push(...file.problems);
    if (file.text !== null && file.text.trim() !== "") return { text: file.text, problems };
  }
  return { text: "", problems };
}

export interface SourcedText {
  source: string;
  text: string;
}

/** The file of each directory, in order, until the limit is reached. */
export function readProject(
  { root, maxBytes, fallbackNames }: Pick<InstructionSources, "root" | "maxBytes" | "fallbackNames">,
  directories: string[],
): { texts: SourcedText[]; problems: FileProblem[] } {
  const texts: SourcedText[] = [];
  const problems: FileProblem[] = [];
  const names = ["AGENTS.override.md", "AGENTS.md", ...fallbackNames.filter((name) => /^[^/\\]+$/.test(name))];
  let left = maxBytes;
  for (const directory of directories) {
    if (left <= 0) break;
    for (const name of names) {
      const source = join(directory, name);
      const file = readProjectText(source, { maxBytes: left, within: root });
      problems.push(...file.problems);
      if (file.text === null && file.problems.length === 0) continue;
      if (file.isCut) problems.push(cut(source, left));
      left -= file.isCut ? left : Buffer.byteLength(file.text ?? "");
      if (file.text !== null && file.text.trim() !== "") texts.push({ source, text: file.text });
      break;
    }
  }
  return { texts, problems };
}

const cut = (path: string, bytes: number): FileProblem => ({
  path,
  line: null,
  severity: "warning",
  message: `only its first ${bytes} bytes are used; shorten it or raise project_doc_max_bytes`,
});
