// What an automation does, as it is stored: one sealed document, and rows of its triggers for the scheduler.
import { randomUUID } from "node:crypto";
import type { Automation, AutomationTrigger } from "@agentcli/protocol/api";
import { type DataKey, invalid, type Queries } from "../foundation/index.ts";
import { readSchedule } from "./schedule.ts";
import { unknownVariables, variables } from "./variables.ts";

/** With ids; a trigger that is changed is another one. */
export type StoredTrigger = Automation["triggers"][number];

export interface Definition extends Pick<Automation, "description" | "prompt" | "model" | "target" | "tools"> {
  /** Absent in documents from before there were any. */
  limits?: Automation["limits"];
  shadow?: boolean;
  triggers: StoredTrigger[];
}

const definitionAad = (automationId: string): string => `automation:${automationId}`;

export const sealDefinition = (key: DataKey, id: string, definition: Definition): Buffer =>
  key.seal(JSON.stringify(definition), definitionAad(id));

export const openDefinition = (key: DataKey, { id, definition }: { id: string; definition: Buffer }): Definition =>
  JSON.parse(key.openText(definition, definitionAad(id)));

export const limitsOf = ({ limits }: Definition): Automation["limits"] => limits ?? { whenBusy: "queue" };

/** Throws `validation_error`. */
export function checkPrompt(text: string): void {
  const problem = findPromptProblem(text);
  if (problem !== null) throw invalid([problem]);
}

export function findPromptProblem(text: string): string | null {
  const [unknown] = unknownVariables(text);
  if (unknown === undefined) return null;
  const known = Object.keys(variables).join(", ");
  return `prompt.text: there is no variable {{${unknown}}}; there are ${known}`;
}

/** Throws `validation_error`. */
export function checkTriggers(definition: TriggeredDefinition): void {
  const problems = findTriggerProblems(definition);
  if (problems.length > 0) throw invalid(problems.map(({ path, problem }) => `${path.join(".")}: ${problem}`));
}

export interface TriggeredDefinition extends Pick<Automation, "target"> {
  triggers: AutomationTrigger[];
  shadow?: boolean | undefined;
  scope: Automation["scope"];
}

interface Problem {
  path: (string | number)[];
  problem: string;
}

export const findTriggerProblems = (definition: TriggeredDefinition): Problem[] => [
  ...problemsOfTriggers(definition),
  ...targetProblems(definition),
];

function targetProblems({ target, shadow, scope }: TriggeredDefinition): Problem[] {
  if (target.type === "environment" || target.env === undefined || target.env.type === "cloud") return [];
  const path = ["target", "env"];
  if (target.env.type === "machine" && scope === "team_owned")
    return [{ path, problem: "a machine belongs to a user, and this automation to the team; name a pool" }];
  // The platform closes only its own network.
  return shadow ? [{ path, problem: "runs in shadow mode work on the platform; leave env out" }] : [];
}

const problemsOfTriggers = ({ triggers, target }: TriggeredDefinition): Problem[] =>
  triggers.flatMap((trigger, index) => {
    const path = ["triggers", index];
    if (trigger.type === "github" && target.type === "none")
      return [{ path, problem: "a trigger of a source host needs a repository or an environment; set target" }];
    if (trigger.type === "github")
      return pathProblems(trigger).map((problem) => ({ path: [...path, "paths"], problem }));
    if (trigger.type !== "cron") return [];
    const read = readSchedule(trigger.cron, trigger.timezone);
    return read.kind === "invalid" ? [{ path, problem: read.problem }] : [];
  });

const withoutPaths = ["issue.label_changed", "issue.comment", "check.completed", "workflow_run.completed"];

function pathProblems({ event, paths = [] }: Extract<AutomationTrigger, { type: "github" }>): string[] {
  if (paths.length === 0) return [];
  if (withoutPaths.includes(event)) return [`${event} changes no paths; leave them out`];
  return paths.every((path) => path.startsWith("!")) ? ["name at least one path that counts, without !"] : [];
}

/** Those that are the same as before keep their ids, and with them what is planned. */
export function withIds(triggers: AutomationTrigger[], former: StoredTrigger[]): StoredTrigger[] {
  const left = [...former];
  return triggers.map((trigger) => {
    const text = canonical(trigger);
    const index = left.findIndex(({ id: _, ...rest }) => canonical(rest) === text);
    const [same] = index === -1 ? [] : left.splice(index, 1);
    return { ...trigger, id: same?.id ?? `trg-${randomUUID()}` };
  });
}

const canonical = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

export async function replaceTriggers(tx: Queries, automationId: string, triggers: StoredTrigger[]): Promise<void> {
  await tx.deleteFrom("automation_triggers").where("automation_id", "=", automationId).execute();
  const rows = triggers.map((trigger, position) => ({
    id: trigger.id,
    automation_id: automationId,
    position,
    type: trigger.type,
    cron: trigger.type === "cron" ? trigger.cron : null,
    timezone: trigger.type === "cron" ? trigger.timezone : null,
    event: trigger.type === "github" ? trigger.event : null,
  }));
  await tx.insertInto("automation_triggers").values(rows).execute();
}
