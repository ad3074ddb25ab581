// The settings that a team and a user both have: model, failed checks, network.
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../api/queries.ts";
import { Field, Select } from "../components/controls.tsx";
import { EnvironmentSelect, RepositoryFields } from "../components/starting-point.tsx";
import type { SettingsDraft } from "./draft.ts";

export interface SettingsFieldsProps {
  draft: SettingsDraft;
  onChange(change: Partial<SettingsDraft>): void;
  /** What holds where nothing is set. */
  inherited: Record<"model" | "autofix" | "egress" | "start", string>;
}

export const SettingsFields = ({ draft, onChange, inherited }: SettingsFieldsProps) => (
  <>
    <ModelField draft={draft} onChange={onChange} inherited={inherited} />
    <StartFields draft={draft} onChange={onChange} inherited={inherited} />
    <Field label="Failed checks of pull requests">
      <Select
        value={draft.autofix}
        onChange={({ target }) => onChange({ autofix: target.value as SettingsDraft["autofix"] })}
      >
        <option value="">{inherited.autofix}</option>
        <option value="on">Wake the agent that made them</option>
        <option value="off">Do nothing</option>
      </Select>
    </Field>
    <Field label="Network of agents">
      <Select
        value={draft.egress}
        onChange={({ target }) => onChange({ egress: target.value as SettingsDraft["egress"] })}
      >
        <option value="">{inherited.egress}</option>
        <option value="allow_all">All public hosts</option>
        <option value="default_plus_allowlist">Package registries, code hosts and listed hosts</option>
        <option value="allowlist_only">Only listed hosts</option>
      </Select>
    </Field>
    {(draft.egress === "default_plus_allowlist" || draft.egress === "allowlist_only") && (
      <Field label="Listed hosts" hint="One a line: example.com, *.example.com, **.example.com, with :port if needed.">
        <textarea
          className="input mono"
          rows={4}
          spellCheck={false}
          value={draft.hosts}
          onChange={({ target }) => onChange({ hosts: target.value })}
        />
      </Field>
    )}
  </>
);

function StartFields({ draft, onChange, inherited }: SettingsFieldsProps) {
  const { start, repository, branch, environment } = draft;
  return (
    <>
      <Field label="New agents begin with">
        <Select value={start} onChange={({ target }) => onChange({ start: target.value as SettingsDraft["start"] })}>
          <option value="">{inherited.start}</option>
          <option value="repository">A repository</option>
          <option value="environment">An environment</option>
        </Select>
      </Field>
      {start === "repository" && <RepositoryFields {...{ repository, branch, onChange }} isRequired />}
      {start === "environment" && (
        <Field label="Environment" hint="It brings its repositories.">
          <EnvironmentSelect
            value={environment}
            none="Choose one"
            isRequired
            onChange={(name) => onChange({ environment: name })}
          />
        </Field>
      )}
    </>
  );
}

function ModelField({ draft: { model }, onChange, inherited }: SettingsFieldsProps) {
  const { data } = useQuery(modelsQuery);
  const models = data?.items ?? [];
  return (
    <Field label="Default model">
      <Select value={model} onChange={({ target }) => onChange({ model: target.value })}>
        <option value="">{inherited.model}</option>
        {model !== "" && !models.some(({ id }) => id === model) && <option value={model}>{model}</option>}
        {models.map(({ id, displayName }) => (
          <option key={id} value={id}>
            {displayName}
          </option>
        ))}
      </Select>
    </Field>
  );
}
