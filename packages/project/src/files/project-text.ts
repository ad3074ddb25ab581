// A text file of the project for the model: bounded, inside the project, without hidden characters.
import { visibleText } from "../sanitize/visible.ts";
import type { FileProblem } from "./problem.ts";
import { type ReadOptions, readTextFile } from "./text-file.ts";

export interface ProjectText {
  /** Null if nothing is usable. */
  text: string | null;
  isCut: boolean;
  problems: FileProblem[];
}

export function readProjectText(path: string, options: ReadOptions): ProjectText {
  const file = readTextFile(path, options);
  if (file.kind === "missing") return { text: null, isCut: false, problems: [] };
  if (file.kind === "problem")
    return { text: null, isCut: false, problems: [{ path, line: null, severity: "error", message: file.message }] };
  const { text, removed } = visibleText(file.text);
  const message = `${removed} hidden characters were removed; show them with agentcli sanitize --report`;
  return {
    text,
    isCut: file.isCut,
    problems: removed === 0 ? [] : [{ path, line: null, severity: "warning", message }],
  };
}
