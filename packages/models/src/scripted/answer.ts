// The final messages of the practice model: always labelled, and limited to what the results show.
import { examples } from "./forms.ts";
import { readInstructions } from "./instructions.ts";
import type { Report } from "./script.ts";
import { hasEnded, type Work } from "./steps.ts";

export const label = "Practice model (scripted, not an AI)";

/** As text and not as a review: the format of a review cannot express that nothing was reviewed. */
export const notReviewed = `${label}: I cannot judge code, so this change was not reviewed. Choose a real model with --model, or --oss for one on this machine.`;

export function finalMessage({ reports, remaining }: Work): string {
  const notAttempted = remaining.map(({ text }) => `- Not attempted: ${firstLine(text)}`);
  return [`${label}: ${verdict(reports)}`, "", ...reports.map(bullet), ...notAttempted].join("\n");
}

export const succeeded = ({ reports }: Work): boolean =>
  reports.some((report) => report.outcome === "done") && reports.every((report) => report.outcome !== "failed");

/** For a prompt without a readable instruction. */
export const helpMessage = (unknownSkills: string[]): string =>
  [
    `${label}: I did nothing, because I do not understand this prompt.`,
    ...unknownSkills.map((name) => `There is no skill named ${name} in this conversation.`),
    'I only follow plain instructions in these forms, joined by "then" or one a line:',
    "",
    ...examples().map((example) => `- ${example}`),
    "",
    "To ask a real model instead:",
    "1. set AGENT_API_KEY for the invocation, or save a key once with `agentcli login --with-api-key`;",
    "2. pass `--oss` to use a model server on this machine;",
    "3. name another server under `[model_providers.NAME]` in `$AGENT_HOME/config.toml` and select it with `model_provider`.",
  ].join("\n");

/** Replaces the conversation so far. Remaining steps are written as instructions, so that the turn can continue. */
export function summaryMessage({ reports, remaining }: Work): string {
  const open = hasEnded(reports) ? [] : remaining.map(({ text }, index) => `${index + 1}. ${text}`);
  return [summaryTitle, reportsTitle, ...reports.map(bullet), toDoTitle, ...open].join("\n");
}

/** The progress at the time of a summary; undefined for any other text. */
export function readSummary(prompt: string): Work | undefined {
  const start = prompt.indexOf(`${summaryTitle}\n${reportsTitle}\n`);
  const middle = prompt.lastIndexOf(`\n${toDoTitle}`);
  if (start < 0 || middle < start) return undefined;
  const reported = prompt.slice(start + summaryTitle.length + reportsTitle.length + 2, middle);
  const open = prompt.slice(middle + toDoTitle.length + 1).replace(/<\/\w+>\s*$/, "");
  const bullets = `\n${reported}`.split("\n- ").slice(1);
  return { reports: bullets.map(readBullet), remaining: readInstructions(open) };
}

const reportsTitle = "Reported so far:";
const summaryTitle = `${label}: summary of the conversation.`;
const toDoTitle = "Still to do:";

function verdict(reports: Report[]): string {
  const count = (outcome: Report["outcome"]) => reports.filter((report) => report.outcome === outcome).length;
  const steps = `${count("done")} ${count("done") === 1 ? "step" : "steps"} done`;
  if (count("failed") > 0) return `FAILED, ${steps} before that.`;
  if (count("stopped") > 0) return `stopped as asked, ${steps}.`;
  return count("skipped") > 0 ? `${steps}, ${count("skipped")} skipped.` : `${steps}.`;
}

const words = { done: "", failed: "Failed: ", stopped: "Stopped: ", skipped: "Skipped: " };

const bullet = ({ outcome, text }: Report): string => `- ${words[outcome]}${text}`.replaceAll("\n", "\n  ");

function readBullet(text: string): Report {
  const outcomes = ["failed", "stopped", "skipped", "done"] as const;
  const outcome = outcomes.find((candidate) => text.startsWith(words[candidate])) ?? "done";
  return { outcome, text: text.slice(words[outcome].length).replaceAll("\n  ", "\n") };
}

const firstLine = (text: string): string => text.split("\n")[0] ?? text;
