// Service accounts with their keys, for administrators.
import type { ApiKey, ServiceAccount } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field } from "../components/controls.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { KeyForm } from "./form.tsx";
import { keysQuery, serviceAccountsQuery } from "./queries.ts";
import { type ShownKey, ShownKeyCard } from "./secret.tsx";
import { KeyTable } from "./table.tsx";
import { type KeyActions, useKeyActions } from "./use-key-actions.ts";

export function ServiceAccountsPage() {
  const query = useQuery(serviceAccountsQuery);
  const keys = useQuery(keysQuery);
  const [shown, setShown] = useState<ShownKey | null>(null);
  const actions = useKeyActions(setShown);
  return (
    <Page title="Service accounts" actions={<Link to="/keys">Keys</Link>}>
      <p className="page-lead">
        They are for programs: they belong to the team, and their keys stay valid when members leave.
      </p>
      {session.isAdmin && <AccountForm />}
      {shown !== null && <ShownKeyCard shown={shown} />}
      {actions.error !== null && <Failure error={actions.error} />}
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="key" title="No service accounts yet" />
          ) : (
            items.map((account) => (
              <AccountCard
                key={account.id}
                account={account}
                keys={keysOf(account, keys.data?.items)}
                actions={actions}
                onCreated={setShown}
              />
            ))
          )
        }
      </Loaded>
      {keys.error && <Failure error={keys.error} retry={() => void keys.refetch()} />}
    </Page>
  );
}

const keysOf = ({ name }: ServiceAccount, keys: ApiKey[] = []): ApiKey[] =>
  keys.filter(({ owner }) => owner.type === "service_account" && owner.name === name);

function AccountForm() {
  const [name, setName] = useState("");
  const queries = useQueryClient();
  const create = useAction(async (body: { name: string }) => {
    await request("/v1/service-accounts", { method: "POST", body });
    setName("");
    await queries.invalidateQueries({ queryKey: serviceAccountsQuery.queryKey });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void create.run({ name: name.trim() });
  };
  return (
    <form className="card form-row" onSubmit={submit}>
      <Field label="Name of the service account">
        <input
          className="input"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="ci"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <Button type="submit" look="primary" isBusy={create.isPending}>
        Create service account
      </Button>
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}

interface AccountCardProps {
  account: ServiceAccount;
  keys: ApiKey[];
  actions: KeyActions;
  onCreated(shown: ShownKey): void;
}

const AccountCard = ({ account: { id, name, createdAt }, keys, actions, onCreated }: AccountCardProps) => (
  <section className="card section" aria-label={name} data-account={name}>
    <h2>{name}</h2>
    <p className="soft">
      Created <Moment at={createdAt} />
    </p>
    {keys.length === 0 ? <p className="soft">No keys yet.</p> : <KeyTable keys={keys} actions={actions} />}
    <details>
      <summary>New key</summary>
      <KeyForm serviceAccountId={id} onCreated={onCreated} />
    </details>
  </section>
);
