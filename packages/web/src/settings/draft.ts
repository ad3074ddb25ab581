// Settings as the fields of a form have them, and back.
import type { ModelSelection, TeamSettings, UserSettings } from "@agentcli/protocol/api";

type Mode = NonNullable<TeamSettings["egress"]>["mode"];

export interface SettingsDraft {
  /** Empty: that of the server, or of the team. */
  model: string;
  autofix: "" | "on" | "off";
  egress: "" | Mode;
  /** One host a line. */
  hosts: string;
}

/** What users and teams both set. */
type Shared = Pick<UserSettings, "defaultModel" | "egress" | "autofix">;

export const draftOf = ({ defaultModel, egress, autofix }: Shared): SettingsDraft => ({
  model: defaultModel?.id ?? "",
  autofix: autofix === null ? "" : autofix ? "on" : "off",
  egress: egress?.mode ?? "",
  hosts: egress?.allowlist.join("\n") ?? "",
});

export function settingsOf({ model, autofix, egress, hosts }: SettingsDraft, before: Shared): Shared {
  const allowlist = hosts.split(/\s+/).filter((host) => host !== "");
  return {
    defaultModel: modelOf(model, before.defaultModel),
    autofix: autofix === "" ? null : autofix === "on",
    egress: egress === "" ? null : { mode: egress, allowlist: egress === "allow_all" ? [] : allowlist },
  };
}

/** The form has no parameters: those of a model that stays are kept. */
function modelOf(id: string, before: ModelSelection | null): ModelSelection | null {
  if (id === "") return null;
  return before?.id === id ? before : { id };
}
