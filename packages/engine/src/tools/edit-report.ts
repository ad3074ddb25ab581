// The report on edited files that the model receives.
import type { EditResult, FileChange, Outcome } from "@agentcli/protocol";
import { textPart } from "../state/messages.ts";
import { failed } from "./tool.ts";

type EditedFile = Extract<EditResult, { kind: "edited" }>["files"][number];

export function editReport(result: EditResult, durationMs: number): Outcome {
  if (result.kind === "refused") return failed(result.message);
  const { files } = result;
  const list = files.map((file) => `${letter[file.kind]} ${nameOf(file)}\n`).join("");
  const details = files.flatMap((file) => [
    ...changedLines(file),
    ...(file.notes ?? []).map((note) => noteOn(file, note)),
  ]);
  const text = `Exit code: 0\nWall time: ${(durationMs / 1000).toFixed(1)} seconds\nOutput:\nSuccess. Updated the following files:\n${list}`;
  return {
    status: "completed",
    parts: [textPart(details.length > 0 ? `${text}\n${details.join("\n")}\n` : text)],
    detail: {
      kind: "patch",
      changes: files.map(({ path, kind, movedTo }) => ({ path, kind, ...(movedTo !== undefined && { movedTo }) })),
    },
  };
}

function changedLines(file: EditedFile): string[] {
  const { lines = [] } = file;
  if (lines.length === 0) return [];
  const added = lines
    .filter(({ from, to }) => to >= from)
    .map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  const removed = lines
    .filter(({ from, to, removed }) => to < from && removed > 0)
    .map(({ from, removed }) => `${removed} ${removed === 1 ? "line" : "lines"} removed before line ${from}`);
  const changes = [...(added.length > 0 ? [`changed lines ${added.join(", ")}`] : []), ...removed];
  return changes.length > 0 ? [`${nameOf(file)}: ${changes.join("; ")}`] : [];
}

const noteOn = (file: EditedFile, note: string): string => `Note on ${nameOf(file)}: ${note}`;
const nameOf = ({ path, movedTo }: EditedFile): string => movedTo ?? path;
const letter: Record<FileChange["kind"], string> = { add: "A", delete: "D", update: "M" };
