// Hooks of the agentcli dialect: `{"hooks": {"<Event>": [{"matcher": …, "hooks": [handler …]}]}}`.
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

export const agentcliEventNames = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "Stop",
  "SubagentStart",
  "SubagentStop",
  "SessionEnd",
];

/** The whole file; it is rejected if it has other keys than its two. */
export function readAgentcliFile(json: unknown, reading: ReadContext): ReadDefinition[] {
  if (!isTable(json)) return refuse(reading, "must be an object");
  const unknown = Object.keys(json).find((key) => key !== "hooks" && key !== "description");
  if (unknown !== undefined) return refuse(reading, `has an unknown key: ${unknown}`);
  if (json.hooks === undefined) return [];
  return isTable(json.hooks) ? readAgentcliTable(json.hooks, reading) : refuse(reading, "hooks must be an object");
}

export function readAgentcliTable(table: Table, reading: ReadContext): ReadDefinition[] {
  return Object.entries(table).flatMap(([event, groups]) => {
    if (!agentcliEventNames.includes(event)) {
      const near = nearest(event, agentcliEventNames);
      return refuse(reading, `there is no event ${event}${near ? `; did you mean ${near}?` : ""}`);
    }
    if (!Array.isArray(groups)) return refuse(reading, `${event} must be a list`);
    return groups.flatMap((group, index) => readGroup(group, { event, index, reading }));
  });
}

interface GroupLocation {
  event: string;
  index: number;
  reading: ReadContext;
}

function readGroup(group: unknown, location: GroupLocation): ReadDefinition[] {
  const { event, index, reading } = location;
  const where = `${event}[${index}]`;
  if (!isTable(group)) return refuse(reading, `${where} must be an object`);
  const { matcher = null, hooks } = group;
  if (matcher !== null && !isText(matcher)) return refuse(reading, `${where}.matcher must be text`);
  if (matcher !== null && !isPattern(matcher) && matcher !== "*") {
    return refuse(reading, `${where}.matcher is not a regular expression: ${matcher}`);
  }
  if (!Array.isArray(hooks)) return refuse(reading, `${where}.hooks must be a list`);
  return hooks.flatMap((handler, position) => readHandler(handler, matcher, position, location));
}

function readHandler(
  handler: unknown,
  matcher: string | null,
  position: number,
  location: GroupLocation,
): ReadDefinition[] {
  const { event, index, reading } = location;
  const where = `${event}[${index}].hooks[${position}]`;
  if (!isTable(handler)) return refuse(reading, `${where} must be an object`);
  const read = readAction(handler, handler.type, ["command", "prompt", "mcp_tool", "agent"]);
  if (read.kind === "problem") return refuse(reading, `${where}: ${read.problem}`);
  if (read.work.type === "agent" && reading.file.kind === "managed") return refuse(reading, `${where}: ${notRun}`);
  const timeout = field(handler, "timeout", isPositive, event === "SessionEnd" ? 1 : 600);
  const async = field(handler, "async", isSwitch, false);
  const failClosed = field(handler, "failClosed", isSwitch, false);
  const contextTokens = field(handler, "additionalContextLimit", isPositive, defaultContextTokens);
  const status = field(handler, "statusMessage", isText, "");
  const all = [timeout, async, failClosed, contextTokens, status] as const;
  const wrong = all.find((read) => !read.ok);
  if (wrong && !wrong.ok) return refuse(reading, `${where}.${wrong.name} is invalid`);
  if (!timeout.ok || !async.ok || !failClosed.ok || !contextTokens.ok || !status.ok) return [];
  const seconds = secondsOf(event, timeout.value);
  const { path, kind, directory } = reading.file;
  return [
    {
      dialect: "agentcli",
      event,
      matcher,
      ...read.work,
      timeoutMs: Math.round(seconds * 1000),
      failClosed: failClosed.value,
      loopLimit: null,
      async: async.value,
      contextTokens: Math.ceil(contextTokens.value),
      ...(status.value ? { statusMessage: status.value } : {}),
      source: { kind, path },
      ...(directory === undefined ? {} : { directory }),
      key: `${path}:${snakeCase(event)}:${index}:${position}`,
      hash: hashOf(identity(event, matcher, handler, seconds)),
    },
  ];
}

/** Why hooks of type agent are read and never run. */
export const notRun = "type agent is not run; use command, prompt or mcp_tool";

/** The end of a session must not take long. */
const secondsOf = (event: string, seconds: number): number =>
  event === "SessionEnd" ? Math.min(3, seconds) : Math.max(1, seconds);

const identity = (event: string, matcher: string | null, handler: Table, timeout: number): object => ({
  event_name: snakeCase(event),
  ...(matcher === null ? {} : { matcher }),
  hooks: [{ ...handler, timeout, async: handler.async ?? false }],
});

function refuse(reading: ReadContext, problem: string): [] {
  addProblem(reading, problem);
  return [];
}
