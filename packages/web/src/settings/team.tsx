// The settings of the team: all members see them, administrators change them.
import type { TeamSettings, TeamSettingsChange } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { Check, Field, Select } from "../components/controls.tsx";
import { draftOf, settingsOf } from "./draft.ts";
import { SettingsFields } from "./fields.tsx";
import { SettingsForm } from "./form.tsx";
import { teamSettingsQuery } from "./queries.ts";
import { aboutSpendLimit } from "./spend-limit.tsx";

const followUps = {
  disabled: "Owners only",
  service_accounts: "The whole team, for agents of service accounts",
  all: "The whole team, for all agents",
} as const;

const retention = {
  indefinite: "Until they are deleted",
  "90_days": "Until no run has used them for 90 days",
} as const;

const inherited = {
  model: "The server's default",
  autofix: "Wake the agent that made them (default)",
  egress: "All public hosts (default)",
  start: "The first repository (default)",
};

export function TeamSettingsForm({ settings }: { settings: TeamSettings }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(teamDraftOf(settings));
  const change = (part: Partial<TeamDraft>) => setDraft({ ...draft, ...part });
  const save = async () => {
    const body = changeOf(draft, settings);
    const saved = await request<TeamSettings>("/v1/team/settings", { method: "PATCH", body });
    queries.setQueryData(teamSettingsQuery.queryKey, saved);
  };
  return (
    <SettingsForm title={`Team ${session.team}`} mayChange={session.isAdmin} save={save}>
      <OptionField
        label="Who may send follow-ups to agents of others"
        options={followUps}
        value={draft.followUps}
        onChange={(value) => change({ followUps: value })}
      />
      <OptionField
        label="How long agents are kept"
        hint="Deleted agents cannot be restored: their conversations go, their artifacts, and work that they did not push."
        options={retention}
        value={draft.retention}
        onChange={(value) => change({ retention: value })}
      />
      <Field label="Spend limit in US dollars a month" hint={`Empty: none. ${aboutSpendLimit}`}>
        <input
          className="input"
          type="number"
          min={0}
          step="any"
          value={draft.limit}
          onChange={({ target }) => change({ limit: target.value })}
        />
      </Field>
      <SettingsFields draft={draft} onChange={change} inherited={inherited} />
      {draft.egress !== "" && (
        <Check
          label="Members and environments cannot change the network"
          checked={draft.locked}
          onChange={(locked) => change({ locked })}
        />
      )}
      <Field label="Allowed models" hint="Ids, one a line. Empty: all of the server.">
        <textarea
          className="input mono"
          rows={3}
          spellCheck={false}
          value={draft.models}
          onChange={({ target }) => change({ models: target.value })}
        />
      </Field>
    </SettingsForm>
  );
}

type TeamDraft = ReturnType<typeof teamDraftOf>;

const teamDraftOf = (settings: TeamSettings) => ({
  ...draftOf(settings),
  followUps: settings.followUps,
  locked: settings.egress?.locked ?? false,
  retention: settings.retention,
  limit: limitIn(settings),
  models: settings.allowedModels?.join("\n") ?? "",
});

/** Empty: none, or still to be chosen. */
const limitIn = ({ spendLimit }: TeamSettings): string => spendLimit?.monthlyUsd?.toString() ?? "";

function changeOf(draft: TeamDraft, settings: TeamSettings): TeamSettingsChange {
  const { egress, ...shared } = settingsOf(draft, settings);
  const { followUps, retention, locked, limit } = draft;
  const models = draft.models.split(/\s+/).filter((id) => id !== "");
  return {
    ...{ ...shared, followUps, retention, allowedModels: models.length === 0 ? null : models },
    egress: egress && { ...egress, locked },
    ...(limit !== limitIn(settings) && { spendLimit: { monthlyUsd: limit === "" ? null : Number(limit) } }),
  };
}

interface OptionFieldProps<Value extends string> {
  label: string;
  hint?: string;
  options: Record<Value, string>;
  value: Value;
  onChange(value: Value): void;
}

function OptionField<Value extends string>({ options, value, onChange, ...field }: OptionFieldProps<Value>) {
  return (
    <Field {...field}>
      <Select value={value} onChange={({ target }) => onChange(target.value as Value)}>
        {Object.entries<string>(options).map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </Select>
    </Field>
  );
}
