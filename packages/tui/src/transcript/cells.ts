// Items of a turn as rows that stay.
import type { FileUpdateChange, ThreadItem, ThreadItemOf, UserInput } from "@agentcli/protocol/app-server";
import { duration } from "@agentcli/surfaces/duration";
import { cutLine, diffRows, type Line, markdown, span, visible, wrapLine } from "../text/index.ts";

/** Rows for a width; an item that shows nothing has none. */
export type Cell = (columns: number) => Line[];

/** How to read what is not shown here. */
export const expandHint = "Ctrl-O to read all";

export function itemCell(item: ThreadItem): Cell | null {
  switch (item.type) {
    case "userMessage":
      return userCell(item.content);
    case "reasoning":
      return reasoningCell(item);
    case "commandExecution":
      return commandCell(item);
    case "fileChange":
      return (columns) => item.changes.flatMap((change) => changeRows(change, item.status, columns));
    case "mcpToolCall":
      return toolCell(item);
    case "collabAgentToolCall":
      return agentsCell(item);
    case "webSearch":
      return note("⌕", `searched the web: ${item.query}`);
    case "imageView":
      return note("◻", `looked at ${item.path}`);
    case "contextCompaction":
      return note("…", "The history up to here was summarised.");
    case "enteredReviewMode":
      return note("⌕", `reviewing: ${item.review}`);
    case "exitedReviewMode":
      return (columns) => indented(markdown(visible(item.review), columns - 2));
    case "plan":
      return (columns) => indented(markdown(visible(item.text), columns - 2));
    case "agentMessage":
    case "hookPrompt":
    case "dynamicToolCall":
    case "subAgentActivity":
    case "imageGeneration":
    case "sleep":
      return null;
  }
}

export const note =
  (mark: string, text: string): Cell =>
  (columns) =>
    wrapLine([span(visible(text).replace(/\n+/g, " "), { dim: true })], {
      columns,
      first: [span(`${mark} `, { dim: true })],
      rest: [span("  ")],
    });

export const warning =
  (text: string, color: "yellow" | "red" = "yellow"): Cell =>
  (columns) =>
    visible(text)
      .split("\n")
      .flatMap((line, index) =>
        wrapLine([span(line, { color })], {
          columns,
          first: [span(index === 0 ? "! " : "  ", { color, bold: true })],
          rest: [span("  ")],
        }),
      );

export const indented = (rows: Line[]): Line[] => rows.map((row) => (row.length === 0 ? row : [span("  "), ...row]));

const inputText = (content: UserInput[]): string =>
  content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "localImage") return `[image ${part.path}]`;
      return part.type === "skill" || part.type === "mention" ? `$${part.name}` : `[${part.type}]`;
    })
    .join("\n");

const maxPromptRows = 40;

const userCell =
  (content: UserInput[]): Cell =>
  (columns) => {
    const rows = visible(inputText(content))
      .trimEnd()
      .split("\n")
      .flatMap((line, index) =>
        wrapLine([span(line, { bold: true })], {
          columns,
          first: [span(index === 0 ? "› " : "  ", { color: "cyan", bold: true })],
          rest: [span("  ")],
        }),
      );
    return limited(rows, maxPromptRows);
  };

/** The first rows, and how many more there are. */
export function limited(rows: Line[], max: number): Line[] {
  if (rows.length <= max + 1) return rows;
  return [...rows.slice(0, max), [span(`  … ${rows.length - max} more lines · ${expandHint}`, { dim: true })]];
}

export const reasoningText = ({ summary, content }: ThreadItemOf<"reasoning">): string =>
  (summary.some((part) => part.trim() !== "") ? summary : content).join("\n\n").trim();

/** One line; all of it is in the reader. */
function reasoningCell(item: ThreadItemOf<"reasoning">): Cell | null {
  const text = visible(reasoningText(item));
  if (text === "") return null;
  const [first = ""] = text.replace(/\*\*/g, "").split("\n");
  return (columns) => [
    cutLine([span("∴ ", { dim: true }), span(`${first}`, { dim: true, italic: true })], columns - 1),
  ];
}

/** The command as it was written, without the shell around it. */
export const commandText = ({
  command,
  commandActions,
}: Pick<ThreadItemOf<"commandExecution">, "command" | "commandActions">) => commandActions[0]?.command || command;

const maxOutputRows = 5;

function commandCell(item: ThreadItemOf<"commandExecution">): Cell {
  const isGood = item.status === "completed" && (item.exitCode ?? 0) === 0;
  const state = [
    ...(item.status === "declined" ? ["not run"] : []),
    ...(!isGood && item.exitCode !== null && item.exitCode !== undefined ? [`exit ${item.exitCode}`] : []),
    ...(item.durationMs === null || item.durationMs === undefined ? [] : [shortTime(item.durationMs)]),
  ].join(" · ");
  return (columns) => [
    ...commandRows(commandText(item), { mark: isGood ? "✓" : "✗", color: isGood ? "green" : "red", columns, state }),
    ...outputRows(item.aggregatedOutput ?? "", columns),
  ];
}

interface CommandLook {
  mark: string;
  color: "green" | "red" | "cyan";
  columns: number;
  state: string;
}

export function commandRows(text: string, { mark, color, columns, state }: CommandLook): Line[] {
  const lines = visible(text).trimEnd().split("\n");
  const rows = lines.flatMap((line, index) =>
    wrapLine(
      [span(line, { bold: true }), ...(index === lines.length - 1 && state ? [span(`  ${state}`, { dim: true })] : [])],
      {
        columns,
        first: [span(index === 0 ? `${mark} ` : "  ", { color, bold: true })],
        rest: [span("  ")],
      },
    ),
  );
  return limited(rows, 8);
}

/** The last lines of what a command has printed. */
export function outputRows(output: string, columns: number): Line[] {
  const lines = lastLines(output, maxOutputRows);
  const hidden = lines.total - lines.shown.length;
  const bar = span("  │ ", { dim: true });
  const rows = lines.shown.map((line) => [bar, ...cutLine([span(visible(line), { dim: true })], columns - 5)]);
  return hidden > 0 ? [[bar, span(`… ${hidden} lines above · ${expandHint}`, { dim: true })], ...rows] : rows;
}

function lastLines(text: string, max: number): { shown: string[]; total: number } {
  const lines = text.replace(/\r\n/g, "\n").trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return { shown: [], total: 0 };
  return {
    shown: lines.slice(-max).map((line) => line.slice(line.lastIndexOf("\r") + 1).slice(0, 2048)),
    total: lines.length,
  };
}

export const shortTime = (ms: number): string => (ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : duration(ms));

const verbs = { add: "added", delete: "deleted", update: "edited" } as const;
/** Of what has not been done, or not yet. */
const infinitives = { add: "add", delete: "delete", update: "edit" } as const;
const maxDiffRows = 40;

export function changeRows(change: FileUpdateChange, status: string, columns: number): Line[] {
  const lines = diffLines(change);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const isDone = status === "completed";
  const moved = change.kind.type === "update" && change.kind.move_path ? ` → ${change.kind.move_path}` : "";
  const counts =
    change.kind.type === "delete"
      ? []
      : [span(`  +${count("+")}`, { color: "green" }), span(` -${count("-")}`, { color: "red" })];
  const failure = status === "declined" ? "not applied" : status === "failed" ? "failed" : null;
  const head: Line = [
    span(isDone ? "✎ " : status === "inProgress" ? "• " : "✗ ", {
      color: isDone ? "green" : failure ? "red" : "cyan",
      bold: true,
    }),
    span(`${(isDone ? verbs : infinitives)[change.kind.type]} `),
    span(visible(`${change.path}${moved}`), { bold: true }),
    ...counts,
    ...(failure ? [span(`  ${failure}`, { color: "red" })] : []),
  ];
  const rows = lines.flatMap((line) => diffRows(line, columns - 5).map((row) => [span("    "), ...row]));
  return [...wrapLine(head, { columns, rest: [span("  ")] }), ...limited(rows, maxDiffRows)];
}

/** Lines of hunks are counted within the patch, not the file. */
const withoutNumbers = (diff: string): string => diff.replace(/^@@ -\d+,\d+ \+\d+,\d+ @@/gm, "@@");

/** A new file comes whole, without signs. */
export function diffLines({ diff, kind }: FileUpdateChange): string[] {
  if (diff === "") return [];
  const text = visible(diff).replace(/\n$/, "");
  if (kind.type === "add") return text.split("\n").map((line) => `+${line}`);
  return withoutNumbers(text)
    .split("\n")
    .filter((line) => line !== "@@");
}

function toolCell({
  server,
  tool,
  arguments: args,
  status,
  error,
  result,
  durationMs,
}: ThreadItemOf<"mcpToolCall">): Cell {
  const isGood = status === "completed" && !error;
  const state = durationMs ? shortTime(durationMs) : "";
  const given = args === null || args === undefined ? "" : ` ${JSON.stringify(args)}`;
  const text = error?.message ?? (result?.content ?? []).map(contentText).join("\n");
  return (columns) => [
    ...wrapLine(
      [
        span(visible(`${server}/${tool}`), { bold: true }),
        span(visible(given).slice(0, 300), { dim: true }),
        span(state && `  ${state}`, { dim: true }),
      ],
      {
        columns,
        first: [span(isGood ? "✓ " : "✗ ", { color: isGood ? "green" : "red", bold: true })],
        rest: [span("  ")],
      },
    ),
    ...outputRows(text, columns),
  ];
}

const contentText = (content: unknown): string => {
  const { text, type } = (content ?? {}) as { text?: unknown; type?: unknown };
  return typeof text === "string" ? text : `[${String(type ?? "content")}]`;
};

const agentVerbs = {
  spawnAgent: "started an agent",
  sendInput: "wrote to an agent",
  resumeAgent: "resumed an agent",
  wait: "waited for agents",
  closeAgent: "closed an agent",
} as const;
const activeAgentVerbs = {
  spawnAgent: "starting an agent",
  sendInput: "writing to an agent",
  resumeAgent: "resuming an agent",
  wait: "waiting for agents",
  closeAgent: "closing an agent",
} as const;

function agentsCell({ tool, prompt, agentsStates, status }: ThreadItemOf<"collabAgentToolCall">): Cell {
  const states = Object.values(agentsStates);
  return (columns) => [
    cutLine(
      [
        span("◆ ", { color: status === "failed" ? "red" : "magenta", bold: true }),
        span((status === "inProgress" ? activeAgentVerbs : agentVerbs)[tool]),
        ...(prompt ? [span(`: ${visible(prompt).replace(/\n+/g, " ")}`, { dim: true })] : []),
      ],
      columns - 1,
    ),
    ...states.map((state, index) =>
      cutLine(
        [
          span(index === states.length - 1 ? "  └ " : "  ├ ", { dim: true }),
          span(state.status, { color: state.status === "errored" ? "red" : "green" }),
          span(state.message ? ` ${visible(state.message).replace(/\n+/g, " ")}` : "", { dim: true }),
        ],
        columns - 1,
      ),
    ),
  ];
}

export interface Hunk {
  path: string;
  /** With their signs. */
  lines: string[];
}

/** As the server counts them: a file that is added, deleted or only moved is one. */
export function hunksOf(change: FileUpdateChange): Hunk[] {
  const { path, kind } = change;
  const lines = diffLines(change);
  if (kind.type !== "update" || change.diff === "")
    return [{ path, lines: kind.type === "delete" ? ["(deleted)"] : lines }];
  return withoutNumbers(visible(change.diff))
    .replace(/\n$/, "")
    .split(/^@@/m)
    .slice(1)
    .map((hunk) => ({ path, lines: `@@${hunk}`.replace(/\n$/, "").split("\n") }));
}
