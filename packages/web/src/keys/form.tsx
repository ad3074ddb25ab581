// Creates a key of the visitor or of a service account.
import type { CreatedApiKey, NewApiKey } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field, Select } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { keysQuery } from "./queries.ts";
import type { ShownKey } from "./secret.tsx";

const empty = { name: "", days: "90", access: "all" };

const lifetimes = [
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["", "Never"],
] as const;

export interface KeyFormProps {
  serviceAccountId?: string;
  onCreated(shown: ShownKey): void;
}

export function KeyForm({ serviceAccountId, onCreated }: KeyFormProps) {
  const [fields, setFields] = useState(empty);
  const queries = useQueryClient();
  const change = (name: keyof typeof empty) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const create = useAction(async (body: NewApiKey) => {
    const { key } = await request<CreatedApiKey>("/v1/keys", { method: "POST", body });
    setFields(empty);
    onCreated({ name: body.name, key });
    await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void create.run({
      name: fields.name.trim(),
      ...(fields.days !== "" && { expiresInDays: Number(fields.days) }),
      ...(fields.access === "read" && { scopes: ["agents:read", "repositories:read"] }),
      ...(serviceAccountId !== undefined && { serviceAccountId }),
    });
  };
  return (
    <form className={serviceAccountId === undefined ? "card form-row" : "form-row key-form"} onSubmit={submit}>
      <Field label="Name of the key">
        <input
          className="input"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="laptop"
          value={fields.name}
          onChange={change("name")}
        />
      </Field>
      <Field label="Expires">
        <Select value={fields.days} onChange={change("days")}>
          {lifetimes.map(([days, text]) => (
            <option key={days} value={days}>
              {text}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="May">
        <Select value={fields.access} onChange={change("access")}>
          <option value="all">Read and write</option>
          <option value="read">Read</option>
        </Select>
      </Field>
      <Button type="submit" look="primary" isBusy={create.isPending}>
        Create key
      </Button>
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}
