// What a step tells the runner: outputs, the job summary and messages.
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

type Variables = Record<string, string | undefined>;

/** With a delimiter that no value can guess. */
export function setOutput({ GITHUB_OUTPUT }: Variables, name: string, value: string): void {
  if (!GITHUB_OUTPUT) return;
  const delimiter = `ghadelimiter_${randomUUID()}`;
  appendFileSync(GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

export function addSummary({ GITHUB_STEP_SUMMARY }: Variables, markdown: string): void {
  if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, `${markdown}\n`);
}

/** One line of the log: text from outside must not begin a command of the runner. */
export const log = (text: string): void => console.log(text.replace(/^(\s*)(::|##\[)/gm, "$1\u200b$2"));

const escaped = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

export const reportError = (message: string): void => console.log(`::error title=agentcli::${escaped(message)}`);
export const reportWarning = (message: string): void => console.log(`::warning title=agentcli::${escaped(message)}`);
