// AGENTS.md: the user's own, then the project's from its root to where the run works, as one text for the model.
import { join } from "node:path";
import { directoriesBetween } from "../files/places.ts";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";

export interface InstructionPlaces {
  /** The project's top directory; `cwd` where there is none. */
  root: string;
  cwd: string;
  /** The agent home; null where there is no user. */
  home: string | null;
  /** Most bytes of all project files together; 0 reads none. */
  maxBytes: number;
  /** Names to look for where AGENTS.md is missing. */
  fallbackNames: string[];
}

export interface Instructions {
  texts: string[];
  /** The project's files they came from. */
  sources: string[];
  problems: FileProblem[];
}

export function readInstructions(places: InstructionPlaces): Instructions {
  const own = places.home === null ? { text: "", problems: [] } : readOwn(places.home);
  const project = readProject(places, directoriesBetween(places.root, places.cwd));
  const documents = project.texts.map(({ text }) => text).join("\n\n");
  const whole = [own.text, documents].filter((text) => text !== "").join("\n\n--- project-doc ---\n\n");
  return {
    texts: whole === "" ? [] : [instructionMessage(places.cwd, whole)],
    sources: project.texts.map(({ source }) => source),
    problems: [...own.problems, ...project.problems],
  };
}

export const instructionMessage = (directory: string, text: string): string =>
  `# AGENTS.md instructions for ${directory}\n\n<INSTRUCTIONS>\n${text}\n</INSTRUCTIONS>`;

export const defaultMaxBytes = 32_768;

/** Not counted, yet bounded: the user wrote it. */
const mostOwnBytes = 1_048_576;

function readOwn(home: string): { text: string; problems: FileProblem[] } {
  const problems: FileProblem[] = [];
  for (const name of ["AGENTS.override.md", "AGENTS.md"]) {
    const file = readProjectText(join(home, name), { mostBytes: mostOwnBytes, within: null });
    problems.push(...file.problems);
    if (file.text !== null && file.text.trim() !== "") return { text: file.text, problems };
  }
  return { text: "", problems };
}

export interface SourcedText {
  source: string;
  text: string;
}

/** The file of each directory, in order, until the bytes are used up. */
export function readProject(
  { root, maxBytes, fallbackNames }: Pick<InstructionPlaces, "root" | "maxBytes" | "fallbackNames">,
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
      const file = readProjectText(source, { mostBytes: left, within: root });
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
