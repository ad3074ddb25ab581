// The summary of the job: what the agent found, what it did and what it cost.
import type { RunResult } from "./events.ts";

/** GitHub shows up to one MiB of all steps together. */
const maxLength = 60_000;

export function summaryOf({
  exitCode,
  finalMessage,
  failure,
  usage,
  costUsd,
  threadId,
  commands,
  changedFiles,
}: RunResult): string {
  const rows = [
    ["result", exitCode === 0 ? "completed" : `failed with exit code ${exitCode}`],
    ["cost", costUsd === null ? "unknown" : `${costUsd} USD`],
    [
      "tokens",
      `${usage.input_tokens ?? 0} in (${usage.cached_input_tokens ?? 0} cached), ${usage.output_tokens ?? 0} out`,
    ],
    ["commands, changed files", `${commands}, ${changedFiles.size}`],
    ["thread", threadId || "none"],
  ];
  const table = ["| agentcli | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
  return `${table}\n\n${exitCode === 0 ? "" : `${quote(failure)}\n\n`}${showMessage(finalMessage)}\n`;
}

/** JSON in a block of its own; other messages are Markdown already. */
function showMessage(message: string): string {
  const text =
    message.length > maxLength
      ? `${message.slice(0, maxLength)}\n\n(cut off; the whole is in the output final-message)`
      : message;
  return /^\s*[[{]/.test(text) ? `\`\`\`json\n${text}\n\`\`\`` : quote(text);
}

/** Quoted, it cannot be taken for words of the workflow, nor close a block around it. */
const quote = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
