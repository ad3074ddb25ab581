// Whether what a file holds is a recording: it may be damaged, or written by another program.
import { validateSessionLine } from "@agentcli/protocol/validators/session-line";
import type { RunOptions } from "../run-options.ts";
import type { CassetteHeader, CassetteLine } from "./format.ts";

export function isHeader(value: unknown): value is CassetteHeader {
  const { cassette, at, program, command, options, today } = fields(value);
  const { date, timezone } = fields(today);
  const texts = [at, command, date, timezone, fields(program).name, fields(program).version];
  return cassette === 1 && texts.every(isText) && isPlain(options) && hasOptionKinds(fields(options));
}

export function isLine(value: unknown): value is CassetteLine {
  const { type, thread, records, request, reply } = fields(value);
  if (!isText(thread)) return false;
  if (type === "exchange") return isRequest(request) && isReply(reply);
  return (type === "records" || type === "past") && Array.isArray(records) && records.every(isStored);
}

const isStored = (value: unknown): boolean => validateSessionLine({ ...fields(value), v: 1 });

const isRequest = (value: unknown): boolean => {
  const { kept, added, tools, ...others } = fields(value);
  const names = ["model", "instructions", "cacheKey", "turnId", "effort"].filter((name) => name in others);
  const hasTexts = names.every((name) => isText(others[name]) || others[name] === null);
  const hasTools = tools === undefined || (Array.isArray(tools) && tools.every((tool) => isText(fields(tool).name)));
  return (
    Number.isInteger(kept) &&
    Number(kept) >= 0 &&
    Array.isArray(added) &&
    added.every(isMessage) &&
    hasTexts &&
    hasTools
  );
};

function isMessage(value: unknown): boolean {
  const { role, parts, blocks, wireId } = fields(value);
  if (role === "assistant") return isRecord({ type: "model.replied", blocks, usage: noUsage, model: "" });
  const isKnown = role === "user" || role === "developer" || (role === "tool" && isText(wireId));
  return isKnown && isRecord({ type: "input.added", origin: "user", input: parts });
}

function isReply(value: unknown): boolean {
  const { kind, blocks, usage, model, fault } = fields(value);
  if (kind === "replied") return isRecord({ type: "model.replied", blocks, usage, model });
  return kind === "fault" && isText(fields(fault).code) && isText(fields(fault).message);
}

/** With the validator of session files: the parts of messages are those of records. */
const isRecord = (record: object): boolean =>
  validateSessionLine({ v: 1, seq: 1, at: "2026-01-01T00:00:00.000Z", record });

const noUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

type OptionKind = "text" | "switch" | "list" | "table";

const optionKinds: Record<keyof RunOptions, OptionKind> = {
  outputFile: "text",
  outputSchemaFile: "text",
  skipGitCheck: "switch",
  ephemeral: "switch",
  budget: "list",
  onLimit: "text",
  images: "list",
  tags: "table",
  local: "text",
  provider: "text",
  ignoreRules: "switch",
  sanitize: "switch",
  recordFile: "text",
  trustHooks: "list",
  bypassHookTrust: "switch",
  model: "text",
  purpose: "text",
  sandbox: "text",
  sandboxMin: "text",
  approval: "text",
  fullAuto: "switch",
  bypass: "switch",
  directory: "text",
  moreDirectories: "list",
  profile: "text",
  overrides: "list",
  limits: "list",
  strictConfig: "switch",
  ignoreUserConfig: "switch",
  trustProject: "switch",
  search: "switch",
};

const isOfKind: Record<OptionKind, (value: unknown) => boolean> = {
  text: (value) => value === null || isText(value),
  switch: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value) && value.every(isText),
  table: (value) => isPlain(value) && Object.values(fields(value)).every(isText),
};

/** Options of another version are not read. */
const hasOptionKinds = (options: Record<string, unknown>): boolean =>
  Object.entries(optionKinds).every(([name, kind]) => options[name] === undefined || isOfKind[kind](options[name]));

const isText = (value: unknown): value is string => typeof value === "string";
const isPlain = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const fields = (value: unknown): Record<string, unknown> => (isPlain(value) ? (value as Record<string, unknown>) : {});
