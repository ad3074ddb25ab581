// Repositories of the embedded git host: create one, push to it, start agents on it.
import type { HostedRepositoryList } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { repositoriesQuery as offeredQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
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
        one. For private ones <Link to="/accounts">connect your account</Link>
        {session.isAdmin && (
          <>
            , or set a <Link to="/settings">credential of the team</Link>
          </>
        )}
        .
      </p>
      <RepositoryForm />
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="repository" title="No repositories yet">
              <p>
                Create one above, empty or as a copy of another one. A folder of the server becomes one with{" "}
                <code>platform repos create NAME --from PATH</code>.
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
  const [url, setUrl] = useState("");
  const queries = useQueryClient();
  const { data: offered } = useQuery(offeredQuery);
  const create = useAction(async (body: { name: string; importUrl?: string }) => {
    await request("/v1/repositories", { method: "POST", body });
    setName("");
    setUrl("");
    await queries.invalidateQueries({ queryKey: hostedQuery.queryKey });
    await queries.invalidateQueries({ queryKey: offeredQuery.queryKey });
  });
  /** The name is that of the address, unless another was typed. */
  const changeUrl = (next: string) => {
    if (name === "" || name === lastPart(url)) setName(lastPart(next));
    setUrl(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void create.run({ name: name.trim(), ...(url.trim() !== "" && { importUrl: url.trim() }) });
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
      <Field label="Copy from (optional)">
        <input
          className="input"
          list="importable"
          maxLength={2048}
          autoComplete="off"
          spellCheck={false}
          placeholder="Git URL"
          value={url}
          onChange={({ target }) => changeUrl(target.value)}
        />
      </Field>
      <datalist id="importable">
        {offered?.items.map((one) => (
          <option key={one.url} value={one.url} />
        ))}
      </datalist>
      <Button type="submit" look="primary" isBusy={create.isPending}>
        {url.trim() === "" ? "Create repository" : create.isPending ? "Copying…" : "Copy repository"}
      </Button>
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}

const lastPart = (url: string): string => /([\w.-]+?)(?:\.git)?\/?$/.exec(url.trim())?.[1] ?? "";

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
