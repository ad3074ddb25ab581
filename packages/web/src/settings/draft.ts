// Settings as the fields of a form have them, and back.
import type { ModelSelection, NewAgentDefault, TeamSettings, UserSettings } from "@agentcli/protocol/api";

type Mode = NonNullable<TeamSettings["egress"]>["mode"];

export interface SettingsDraft {
  /** Empty: that of the server, or of the team. */
  model: string;
  autofix: "" | "on" | "off";
  egress: "" | Mode;
  /** One host a line. */
  hosts: string;
  /** What new agents begin with; empty: what the team says, or the first repository. */
  start: "" | "repository" | "environment";
  repository: string;
  branch: string;
  environment: string;
}

/** What users and teams both set. */
type Shared = Pick<UserSettings, "defaultModel" | "egress" | "autofix" | "newAgent">;

export const draftOf = ({ defaultModel, egress, autofix, newAgent }: Shared): SettingsDraft => ({
  model: defaultModel?.id ?? "",
  autofix: autofix === null ? "" : autofix ? "on" : "off",
  egress: egress?.mode ?? "",
  hosts: egress?.allowlist.join("\n") ?? "",
  ...startDraftOf(newAgent),
});

function startDraftOf(start: NewAgentDefault | null): Pick<SettingsDraft, "start" | keyof typeof noStart> {
  if (start === null) return { start: "", ...noStart };
  if ("environment" in start) return { start: "environment", ...noStart, environment: start.environment };
  return { start: "repository", ...noStart, repository: start.repository, branch: start.branch ?? "" };
}

const noStart = { repository: "", branch: "", environment: "" };

export function settingsOf(draft: SettingsDraft, before: Shared): Shared {
  const { model, autofix, egress, hosts } = draft;
  const allowlist = hosts.split(/\s+/).filter((host) => host !== "");
  return {
    defaultModel: modelOf(model, before.defaultModel),
    autofix: autofix === "" ? null : autofix === "on",
    egress: egress === "" ? null : { mode: egress, allowlist: egress === "allow_all" ? [] : allowlist },
    newAgent: newAgentOf(draft),
  };
}

function newAgentOf({ start, repository, branch, environment }: SettingsDraft): NewAgentDefault | null {
  if (start === "") return null;
  if (start === "environment") return { environment };
  return { repository: repository.trim(), ...(branch.trim() !== "" && { branch: branch.trim() }) };
}

/** The form has no parameters: those of a model that stays are kept. */
function modelOf(id: string, before: ModelSelection | null): ModelSelection | null {
  if (id === "") return null;
  return before?.id === id ? before : { id };
}
