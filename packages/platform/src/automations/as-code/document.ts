// An automation as a document of a file: what people write, with all defaults, and nothing that the platform adds.
import { type Automation, CreateAutomation } from "@agentcli/protocol/api";
import { z } from "zod";
import { hiddenValue, withoutValues } from "../mcp-servers.ts";

export const AutomationDocument = CreateAutomation.extend({
  id: z
    .string()
    .regex(/^auto-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "must be auto-<uuid>, in lower case")
    .optional(),
  owner: z.email().optional(),
}).superRefine(({ scope, owner }, context) => {
  const isShared = scope === "team_owned";
  if (isShared && owner !== undefined)
    context.addIssue({ code: "custom", path: ["owner"], message: "an automation of the scope team_owned has none" });
  if (!isShared && owner === undefined)
    context.addIssue({ code: "custom", path: ["scope"], message: `${scope} needs owner: the email address of a user` });
});
export type AutomationDocument = z.infer<typeof AutomationDocument>;

/** Throws where a stored automation is not one that could be written today. */
export function documentOf(automation: Automation, owner: string | undefined): AutomationDocument {
  const { id, name, description, prompt, model, target, tools, missed, limits, shadow, scope, enabled } = automation;
  const triggers = automation.triggers.map(({ id: _, ...trigger }) => trigger);
  return AutomationDocument.parse({
    ...{ id, name, ...(owner !== undefined && { owner }), scope, enabled, description, prompt },
    ...{ ...(model && { model }), triggers, target, tools, missed, limits, shadow },
  });
}

/** Without the values that are never shown. */
export const shownDocument = (document: AutomationDocument): AutomationDocument => ({
  ...document,
  tools: withoutValues(document.tools),
});

export interface Difference {
  /** Such as `prompt.text`. */
  path: string;
  /** As JSON; undefined: it is not there. */
  from: string | undefined;
  to: string | undefined;
}

/** Member by member; of values that are never shown, only that they differ. */
export function differencesOf(from: AutomationDocument, to: AutomationDocument): Difference[] {
  const [left, right] = [leavesOf(from), leavesOf(to)];
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths
    .map((path) => ({ path, from: left.get(path), to: right.get(path) }))
    .filter((difference) => difference.from !== difference.to)
    .map((difference) => (isHidden.test(difference.path) ? hide(difference) : difference));
}

const isHidden = /^tools\.mcpServers\.\d+\.(?:headers|env)\./;

const hide = ({ path, from, to }: Difference): Difference => ({
  path,
  from: from && hiddenValue,
  to: to && (from === undefined ? hiddenValue : `${hiddenValue} (another value)`),
});

function leavesOf(value: unknown, path: string[] = []): Map<string, string> {
  if (value === undefined) return new Map();
  const isBranch = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  if (!isBranch) return new Map([[path.join("."), JSON.stringify(value)]]);
  return new Map(Object.entries(value as object).flatMap(([name, part]) => [...leavesOf(part, [...path, name])]));
}
