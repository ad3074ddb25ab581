// Invites an address to the team.
import type { CreatedInvitation } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field, Select } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import type { OneTimeLink } from "./link.tsx";
import { invitationsKey } from "./queries.ts";

const empty = { email: "", role: "member" };

export function InviteForm({ onInvited }: { onInvited(link: OneTimeLink): void }) {
  const [fields, setFields] = useState(empty);
  const queries = useQueryClient();
  const invite = useAction(async (body: typeof empty) => {
    const { email, link } = await request<CreatedInvitation>("/v1/invitations", { method: "POST", body });
    setFields(empty);
    onInvited({ email, link, kind: "invitation" });
    await queries.invalidateQueries({ queryKey: invitationsKey });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void invite.run({ ...fields, email: fields.email.trim() });
  };
  return (
    <form className="card form-row" onSubmit={submit}>
      <Field label="E-mail address">
        <input
          className="input"
          type="email"
          required
          maxLength={254}
          autoComplete="off"
          value={fields.email}
          onChange={({ target }) => setFields({ ...fields, email: target.value })}
        />
      </Field>
      <Field label="Role">
        <Select value={fields.role} onChange={({ target }) => setFields({ ...fields, role: target.value })}>
          <option value="member">Member</option>
          <option value="admin">Administrator</option>
        </Select>
      </Field>
      <Button type="submit" look="primary" isBusy={invite.isPending}>
        Invite
      </Button>
      {invite.error !== null && <Failure error={invite.error} />}
    </form>
  );
}
