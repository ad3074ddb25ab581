// What is under way, as rows: the last lines that a command has printed, and one with the time and what is being done.
import { duration } from "@agentcli/surfaces/duration";
import { cutLine, type Line, span, visible } from "../text/index.ts";

export interface Progress {
  elapsedMs: number;
  doing: string;
  /** Between the time and what is being done. */
  used?: string;
  /** After it. */
  hint?: string;
}

export const progressRow = ({ elapsedMs, doing, used, hint }: Progress): Line => [
  span("● ", { color: "yellow" }),
  span(duration(elapsedMs), { bold: true }),
  ...(used === undefined ? [] : [span(` · ${used}`)]),
  span(` · ${visible(doing).replace(/\n+/g, " ")}`),
  ...(hint === undefined ? [] : [span(` · ${hint}`, { dim: true })]),
];

/** The last lines of a command that is running. */
export const tailRows = (lines: string[], columns: number): Line[] =>
  lines.map((line) => [span("  │ ", { dim: true }), ...cutLine([span(visible(line), { dim: true })], columns - 5)]);

export const progressRows = (progress: Progress & { output: string[] }, columns: number): Line[] => [
  ...tailRows(progress.output, columns),
  cutLine(progressRow(progress), columns - 1),
];
