// Sets a secret of the user or, for administrators, of the team.
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field, Select } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";

const empty = { name: "", value: "", hosts: "", owner: "me" };

export function SecretForm({ onSaved }: { onSaved: () => Promise<void> }) {
  const [fields, setFields] = useState(empty);
  const [saved, setSaved] = useState("");
  const change = (name: keyof typeof empty) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const save = useAction(async ({ name, value, hosts, owner }: typeof empty) => {
    const bound = hosts.split(/[\s,]+/).filter((host) => host !== "");
    const body = { value, ...(bound.length > 0 && { hosts: bound }) };
    await request(`/v1/${owner}/secrets/${encodeURIComponent(name)}`, { method: "PUT", body });
    setFields({ ...empty, owner });
    setSaved(name);
    await onSaved();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved("");
    void save.run({ ...fields, name: fields.name.trim() });
  };
  return (
    <form className="card form-row" onSubmit={submit}>
      <Field label="Name">
        <input
          className="input"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="NPM_TOKEN"
          value={fields.name}
          onChange={change("name")}
        />
      </Field>
      <Field label="Value">
        <input
          className="input"
          type="password"
          required
          autoComplete="new-password"
          value={fields.value}
          onChange={change("value")}
        />
      </Field>
      <HostsField value={fields.hosts} onChange={change("hosts")} />
      {session.isAdmin && (
        <Field label="For">
          <Select value={fields.owner} onChange={change("owner")}>
            <option value="me">My agents</option>
            <option value="team">All agents of the team</option>
          </Select>
        </Field>
      )}
      <Button type="submit" look="primary" isBusy={save.isPending}>
        Set secret
      </Button>
      {saved !== "" && <Notice tone="good">{saved} is set.</Notice>}
      {save.error !== null && <Failure error={save.error} />}
    </form>
  );
}

interface HostsFieldProps {
  value: string;
  onChange(event: { target: { value: string } }): void;
}

const HostsField = (props: HostsFieldProps) => (
  <Field label="Only sent to (hosts)">
    <input className="input" autoComplete="off" spellCheck={false} placeholder="Any host" {...props} />
  </Field>
);
