// A text file of the project as the model may read it: bounded, inside the project, without hidden characters.
import { visibleText } from "../sanitize/visible.ts";
import type { FileProblem } from "./problem.ts";
import { type ReadOptions, readTextFile } from "./text-file.ts";

export interface ProjectText {
  /** Null where there is nothing to use. */
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
  const message = `${removed} hidden characters were left out; look at what they were with agentcli sanitize --report`;
  return {
    text,
    isCut: file.isCut,
    problems: removed === 0 ? [] : [{ path, line: null, severity: "warning", message }],
  };
}
