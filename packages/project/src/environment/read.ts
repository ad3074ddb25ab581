// Reads an environment.json. Each problem names file, line, column and member, and says what is wrong with it.
import { EnvironmentFile, environmentFilePath, maxEnvironmentBytes } from "@agentcli/protocol/environment-file";
import { type JsonPath, type JsonText, JsonTextError, readJsonText } from "./json-text.ts";
import type { EnvironmentProblem } from "./problem.ts";

export type EnvironmentReading =
  | { status: "valid"; environment: EnvironmentFile }
  | { status: "invalid"; problems: EnvironmentProblem[] };

export function readEnvironment(text: string, file = environmentFilePath): EnvironmentReading {
  const locate = (offset: number, path: JsonPath, reason: string): EnvironmentProblem => ({
    file,
    ...positionOf(text, offset),
    member: memberOf(path),
    reason,
  });
  if (Buffer.byteLength(text) > maxEnvironmentBytes)
    return { status: "invalid", problems: [locate(0, [], `is larger than ${maxEnvironmentBytes / 1024} KiB`)] };
  let json: JsonText;
  try {
    json = readJsonText(text.replace(/^\uFEFF/, " "));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { status: "invalid", problems: [locate(error.offset, error.path, error.message)] };
  }
  const checked = EnvironmentFile.safeParse(json.value);
  if (checked.success) return { status: "valid", environment: checked.data };
  const problems = checked.error.issues.flatMap((issue) => {
    const path = issue.path.filter((step) => typeof step !== "symbol");
    const wrong = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
    const reason = issue.code === "unrecognized_keys" ? "unknown member; remove it" : issue.message;
    return wrong.map((one) => locate(json.offsetOf(one), one, reason));
  });
  return { status: "invalid", problems: problems.sort(inOrder) };
}

const inOrder = (left: EnvironmentProblem, right: EnvironmentProblem): number =>
  left.line - right.line || left.column - right.column;

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

const memberOf = (path: JsonPath): string =>
  path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    const shown = /^[\w$-]{1,100}$/.test(step) ? step : JSON.stringify(step.slice(0, 100));
    return name === "" ? shown : `${name}.${shown}`;
  }, "");
