// What has to happen so that the automations of a team are as their files say. Pure.
import type { Automation } from "@agentcli/protocol/api";
import { withKnownValues } from "../mcp-servers.ts";
import { type AutomationDocument, type Difference, differencesOf } from "./document.ts";

export interface DeclaredAutomation {
  file: string;
  document: AutomationDocument;
}

export interface ExistingAutomation {
  id: string;
  /** As it is shown. */
  document: AutomationDocument;
  /** As they are stored, with the values that are not shown. */
  tools: Automation["tools"];
}

export type PlannedChange =
  | { action: "create"; name: string; file: string; document: AutomationDocument }
  | {
      action: "change";
      name: string;
      file: string;
      id: string;
      document: AutomationDocument;
      differences: Difference[];
    }
  | { action: "keep"; name: string; file: string; id: string }
  /** No file has it. Only automations of the team: those of users are not the files' to remove. */
  | { action: "delete"; name: string; id: string };

export type Plan = { kind: "changes"; changes: PlannedChange[] } | { kind: "invalid"; problems: PlanProblem[] };

export interface PlanProblem {
  file: string;
  /** The member that it is about. */
  member: string;
  reason: string;
}

export function planChanges(declared: DeclaredAutomation[], existing: ExistingAutomation[]): Plan {
  const problems: PlanProblem[] = [];
  const seen = new Map<string, string>();
  const matched = new Set<string>();
  const changes: PlannedChange[] = [];
  for (const { file, document } of declared) {
    const found = findExisting(document, existing);
    const identity = found?.id ?? document.id ?? nameKey(document);
    const former = seen.get(identity);
    seen.set(identity, file);
    if (former !== undefined) {
      problems.push({ file, member: "name", reason: `${former} declares the same automation` });
      continue;
    }
    if (found) matched.add(found.id);
    problems.push(...obstaclesOf({ file, document }, found));
    changes.push(changeOf({ file, document }, found));
  }
  for (const { id, document } of existing)
    if (!matched.has(id) && document.scope === "team_owned")
      changes.push({ action: "delete", name: document.name, id });
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "changes", changes };
}

const nameKey = ({ owner = "", name }: AutomationDocument): string => `${owner} ${name}`;

/** By its id, else by its name: a file may leave the id out. */
const findExisting = (document: AutomationDocument, existing: ExistingAutomation[]) =>
  document.id === undefined
    ? existing.find((one) => nameKey(one.document) === nameKey(document))
    : existing.find(({ id }) => id === document.id);

function obstaclesOf({ file, document }: DeclaredAutomation, found: ExistingAutomation | undefined): PlanProblem[] {
  if (!found) return [];
  const { scope, owner } = found.document;
  if (scope === "team_owned" && document.scope !== "team_owned")
    return [{ file, member: "scope", reason: "an automation of the team stays one; create another for the user" }];
  if (document.scope !== "team_owned" && owner !== document.owner)
    return [{ file, member: "owner", reason: `it belongs to ${owner}; an automation does not change its user` }];
  return [];
}

function changeOf({ file, document }: DeclaredAutomation, found: ExistingAutomation | undefined): PlannedChange {
  const { name } = document;
  if (!found) return { action: "create", name, file, document };
  const differences = differencesOf(
    { ...found.document, tools: found.tools },
    { ...document, id: found.id, tools: withKnownValues(document.tools, found.tools) },
  );
  if (differences.length === 0) return { action: "keep", name, file, id: found.id };
  return { action: "change", name, file, id: found.id, document, differences };
}
