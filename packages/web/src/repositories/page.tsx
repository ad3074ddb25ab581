// Repositories of the embedded git host: create one, push to it, start agents on it.
import type { HostedRepositoryList } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { useAction } from "../agents/use-action.ts";
import { repositoriesQuery as offeredQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { Button, Field } from "../components/controls.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { hostedQuery } from "./queries.ts";

type Repository = HostedRepositoryList["items"][number];

export function RepositoriesPage() {
  const query = useQuery(hostedQuery);
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  return (
    <Page title="Repositories">
      <p className="page-lead">
        Of the git host of this platform. Agents also work on repositories of other hosts: give their URL when you start
        one.
      </p>
      <RepositoryForm />
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="repository" title="No repositories yet">
              <p>
                Create one above, or import one with <code>platform repos create NAME --from PATH</code>.
              </p>
            </Empty>
          ) : (
            <ul className="rows" ref={list}>
              {items.map((repository) => (
                <RepositoryRow key={repository.name} repository={repository} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function RepositoryForm() {
  const [name, setName] = useState("");
  const queries = useQueryClient();
  const create = useAction(async (body: { name: string }) => {
    await request("/v1/repositories", { method: "POST", body });
    setName("");
    await queries.invalidateQueries({ queryKey: hostedQuery.queryKey });
    await queries.invalidateQueries({ queryKey: offeredQuery.queryKey });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void create.run({ name: name.trim() });
  };
  return (
    <form className="card form-row" aria-label="New repository" onSubmit={submit}>
      <Field label="Name of the repository">
        <input
          className="input"
          required
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          placeholder="shop"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <Button type="submit" look="primary" isBusy={create.isPending}>
        Create repository
      </Button>
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}

const RepositoryRow = ({ repository: { name, url, defaultBranch } }: { repository: Repository }) => (
  <li className="row" data-repository={name}>
    <Icon name="repository" />
    <div className="row-main">
      <Link className="row-name" to="/repositories/$name" params={{ name }} data-row>
        {name}
      </Link>
      <span className="row-facts">
        <span className="fact">
          <Icon name="branch" size={14} /> {defaultBranch}
        </span>
        <code className="row-text">git clone {url}</code>
      </span>
    </div>
  </li>
);
