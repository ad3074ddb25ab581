// Hooks of the platform dialect: `{"version": 1, "hooks": {"<event>": [{"command": …, "matcher": …}]}}`.
import { isTable, type Table } from "../../config/table.ts";
import { nearest } from "../../nearest.ts";
import { readAction } from "../action.ts";
import {
  addProblem,
  defaultContextTokens,
  field,
  isPattern,
  isPositive,
  isSwitch,
  isText,
  type ReadContext,
  type ReadDefinition,
} from "../definition.ts";
import { hashOf, snakeCase } from "../hash.ts";

export const platformEventNames = [
  "preToolUse",
  "postToolUse",
  "postToolUseFailure",
  "beforeShellExecution",
  "afterShellExecution",
  "beforeMCPExecution",
  "afterMCPExecution",
  "beforeReadFile",
  "afterFileEdit",
  "beforeSubmitPrompt",
  "afterAgentResponse",
  "afterAgentThought",
  "stop",
  "sessionStart",
  "sessionEnd",
  "preCompact",
  "subagentStart",
  "subagentStop",
];

/** Editor events, which do not exist here. */
const editorEvents = ["beforeTabFileRead", "afterTabFileEdit", "workspaceOpen"];
const defaultSeconds = 60;
const defaultLoopLimit = 5;

export function readPlatformFile(json: unknown, reading: ReadContext): ReadDefinition[] {
  if (!isTable(json)) return refuse(reading, "must be an object");
  if (!Number.isInteger(json.version) || !isPositive(json.version)) return refuse(reading, "version must be 1");
  if (!isTable(json.hooks)) return refuse(reading, "hooks must be an object");
  return Object.entries(json.hooks).flatMap(([event, entries]) => {
    if (editorEvents.includes(event)) return [];
    if (!platformEventNames.includes(event)) {
      const near = nearest(event, platformEventNames);
      return refuse(reading, `there is no event ${event}${near ? `; did you mean ${near}?` : ""}`);
    }
    if (!Array.isArray(entries)) return refuse(reading, `${event} must be a list`);
    return entries.flatMap((entry, index) => readEntry(entry, event, index, reading));
  });
}

function readEntry(entry: unknown, event: string, index: number, reading: ReadContext): ReadDefinition[] {
  const where = `${event}[${index}]`;
  if (!isTable(entry)) return refuse(reading, `${where} must be an object`);
  const read = readAction(entry, entry.type ?? "command", ["command", "prompt"]);
  if (read.kind === "problem") return refuse(reading, `${where}: ${read.problem}`);
  const timeout = field(entry, "timeout", isPositive, defaultSeconds);
  const failClosed = field(entry, "failClosed", isSwitch, false);
  const matcher = field(entry, "matcher", isText, "");
  const loopLimit = field(entry, "loop_limit", isLoopLimit, usualLoopLimit(event));
  const wrong = [timeout, failClosed, matcher, loopLimit].find((read) => !read.ok);
  if (wrong && !wrong.ok) return refuse(reading, `${where}.${wrong.name} is invalid`);
  if (!timeout.ok || !failClosed.ok || !matcher.ok || !loopLimit.ok) return [];
  if (matcher.value !== "*" && !isPattern(matcher.value)) {
    return refuse(reading, `${where}.matcher is not a regular expression: ${matcher.value}`);
  }
  const { path, kind, directory } = reading.file;
  return [
    {
      dialect: "platform",
      event,
      matcher: matcher.value || null,
      ...read.work,
      timeoutMs: Math.round(timeout.value * 1000),
      failClosed: failClosed.value,
      loopLimit: loopLimit.value,
      async: false,
      contextTokens: defaultContextTokens,
      source: { kind, path },
      ...(directory === undefined ? {} : { directory }),
      key: `${path}:${snakeCase(event)}:${index}:0`,
      hash: hashOf(identity(event, entry, timeout.value)),
    },
  ];
}

const usualLoopLimit = (event: string): number | null =>
  event === "stop" || event === "subagentStop" ? defaultLoopLimit : null;

const isLoopLimit = (value: unknown): value is number | null =>
  value === null || (Number.isInteger(value) && isPositive(value));

const identity = (event: string, { matcher, ...handler }: Table, timeout: number): object => ({
  event_name: event,
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [{ type: "command", ...handler, timeout }],
});

function refuse(reading: ReadContext, problem: string): [] {
  addProblem(reading, problem);
  return [];
}
