// The visitor's own settings, which win over those of the team.
import type { UserSettings } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../api/request.ts";
import { draftOf, settingsOf } from "./draft.ts";
import { SettingsFields } from "./fields.tsx";
import { SettingsForm } from "./form.tsx";
import { userSettingsQuery } from "./queries.ts";

const inherited = { model: "The team's", autofix: "As the team", egress: "As the team", start: "What the team says" };

export function PersonalSettingsForm({ settings }: { settings: UserSettings }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(draftOf(settings));
  const save = async () => {
    const body = settingsOf(draft, settings);
    const saved = await request<UserSettings>("/v1/me/settings", { method: "PATCH", body });
    queries.setQueryData(userSettingsQuery.queryKey, saved);
  };
  return (
    <SettingsForm title="Your agents" mayChange save={save}>
      <SettingsFields draft={draft} onChange={(part) => setDraft({ ...draft, ...part })} inherited={inherited} />
    </SettingsForm>
  );
}
