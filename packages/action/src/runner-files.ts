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

/** Lines of the log: text from outside must not be a command of the runner, which also looks for the older form within a line. */
export const log = (text: string): void =>
  console.log(text.replaceAll("##[", "#\u200b#[").replace(/^(\s*)::/gm, "$1\u200b::"));

const escaped = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

export const reportError = (message: string): void => console.log(`::error title=agentcli::${escaped(message)}`);
export const reportWarning = (message: string): void => console.log(`::warning title=agentcli::${escaped(message)}`);
