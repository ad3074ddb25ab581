// The files a settled call has to do with, as far as its arguments and outcome tell. Whether they exist is the host's to see.
import type { FileChange, Outcome } from "@agentcli/protocol";
import type { OpenCall } from "./state.ts";

export function touchedBy({ begun }: OpenCall, { detail }: Outcome): string[] {
  if (detail.kind === "patch") return detail.changes.flatMap(pathsOf);
  const args = begun?.args as Partial<Record<string, unknown>> | undefined;
  switch (begun?.name) {
    case "read_file":
    case "view_image":
      return texts(args?.path);
    case "exec_command":
      return pathsInCommand(texts(args?.cmd).join(" "), texts(args?.workdir)[0]);
    default:
      return [];
  }
}

const pathsOf = ({ path, movedTo }: FileChange): string[] => (movedTo === undefined ? [path] : [path, movedTo]);

const texts = (value: unknown): string[] => (typeof value === "string" && value !== "" ? [value] : []);

const mostCommand = 8_192;
const mostWords = 100;

/** Models read files with cat and sed as well: each word that could be a path counts as one. */
function pathsInCommand(command: string, workdir: string | undefined): string[] {
  const words = command.slice(0, mostCommand).match(/[\w@.+/-]+/g) ?? [];
  const paths = words.filter((word) => !word.startsWith("-") && /[^./]/.test(word)).slice(0, mostWords);
  const place = (word: string) => (workdir === undefined || word.startsWith("/") ? word : `${workdir}/${word}`);
  return [...new Set([...texts(workdir), ...paths.map(place)])];
}
