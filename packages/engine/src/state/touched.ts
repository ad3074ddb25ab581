// The files that settled calls touched, as far as their arguments and outcomes tell. They need not exist.
import type { FileChange, Outcome, RecordOf } from "@agentcli/protocol";

export interface SettledCall {
  begun: Pick<RecordOf<"tool.begun">, "name" | "args"> | null;
  outcome: Outcome;
}

export const touchedPaths = (calls: SettledCall[]): string[] => calls.flatMap(touchedBy);

function touchedBy({ begun, outcome: { detail } }: SettledCall): string[] {
  if (detail.kind === "patch") return detail.changes.flatMap(pathsOf);
  const args = begun?.args as Partial<Record<string, unknown>> | undefined;
  switch (begun?.name) {
    case "read_file":
      return readPaths(args);
    case "view_image":
      return texts(args?.path);
    case "exec_command":
      return pathsInCommand(texts(args?.cmd).join(" "), texts(args?.workdir)[0]);
    default:
      return [];
  }
}

const pathsOf = ({ path, movedTo }: FileChange): string[] => (movedTo === undefined ? [path] : [path, movedTo]);

/** All files of one call. */
export function readPaths(args: Partial<Record<string, unknown>> | undefined): string[] {
  const files = Array.isArray(args?.files) ? args.files : [];
  return [args, ...files].flatMap((each: { path?: unknown } | null | undefined) => texts(each?.path));
}

const texts = (value: unknown): string[] => (typeof value === "string" && value !== "" ? [value] : []);

const maxCommandLength = 8_192;
const maxWords = 100;

/** Models also read files with cat and sed: each word that could be a path counts as one. */
function pathsInCommand(command: string, workdir: string | undefined): string[] {
  const words = command.slice(0, maxCommandLength).match(/[\w@.+/-]+/g) ?? [];
  const paths = words.filter((word) => !word.startsWith("-") && /[^./]/.test(word)).slice(0, maxWords);
  const resolve = (word: string) => (workdir === undefined || word.startsWith("/") ? word : `${workdir}/${word}`);
  return [...new Set([...texts(workdir), ...paths.map(resolve)])];
}
