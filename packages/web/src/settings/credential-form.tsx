// Sets a credential of the team for a git host.
import type { CredentialKind, SetCredential } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field, Select } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { kindWords } from "./kind-words.ts";
import { credentialsQuery } from "./queries.ts";

const empty = { host: "", kind: "token" as CredentialKind, user: "", value: "" };

export function CredentialForm() {
  const [fields, setFields] = useState(empty);
  const queries = useQueryClient();
  const change = (part: Partial<typeof empty>) => setFields({ ...fields, ...part });
  const save = useAction(async (body: SetCredential) => {
    await request("/v1/team/credentials", { method: "PUT", body });
    setFields(empty);
    await queries.invalidateQueries({ queryKey: credentialsQuery.queryKey });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { host, kind, user, value } = fields;
    void save.run({ host: host.trim(), kind, value, ...(kind === "basic" && { user }) });
  };
  return (
    <form className="card form-row" aria-label="Set a credential" onSubmit={submit}>
      <Field label="Host">
        <input
          className="input"
          required
          maxLength={300}
          autoComplete="off"
          spellCheck={false}
          placeholder="git.example.com"
          value={fields.host}
          onChange={({ target }) => change({ host: target.value })}
        />
      </Field>
      <Field label="Kind">
        <Select value={fields.kind} onChange={({ target }) => change({ kind: target.value as CredentialKind })}>
          {Object.entries(kindWords).map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </Select>
      </Field>
      {fields.kind === "basic" && (
        <Field label="User name">
          <input
            className="input"
            required
            maxLength={200}
            autoComplete="off"
            value={fields.user}
            onChange={({ target }) => change({ user: target.value })}
          />
        </Field>
      )}
      <ValueField kind={fields.kind} value={fields.value} onChange={(value) => change({ value })} />
      <Button type="submit" look="primary" isBusy={save.isPending}>
        Set credential
      </Button>
      {save.error !== null && <Failure error={save.error} />}
    </form>
  );
}

interface ValueFieldProps {
  kind: CredentialKind;
  value: string;
  onChange(value: string): void;
}

/** Keys have several lines; tokens and passwords are hidden while they are typed. */
const ValueField = ({ kind, value, onChange }: ValueFieldProps) => {
  const shared = {
    ...{ className: "input mono", required: true, spellCheck: false, value },
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  return (
    <Field label="Value">
      {kind === "token" || kind === "basic" ? (
        <input {...shared} type="password" autoComplete="new-password" />
      ) : (
        <textarea {...shared} rows={3} autoComplete="off" />
      )}
    </Field>
  );
};
