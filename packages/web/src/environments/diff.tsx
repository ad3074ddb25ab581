// Two builds of an environment compared: packages, files and their sizes.
import type { Build, BuildDiff } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Button, Field, Select } from "../components/controls.tsx";
import { Empty, Notice } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { ago, fileSize } from "../text/format.ts";
import { buildDiffQuery, environmentQuery } from "./queries.ts";

export function BuildDiffPage() {
  const { id } = useParams({ from: "/environments/$id/diff" });
  const given = useSearch({ from: "/environments/$id/diff" });
  const query = useQuery(environmentQuery(id));
  const builds = (query.data?.builds ?? []).filter(({ status }) => status === "SUCCEEDED" || status === "FAILED");
  const from = given.from ?? query.data?.active.buildId ?? builds[1]?.id;
  const to = given.to ?? builds.find((build) => build.id !== from)?.id;
  return (
    <Page title={query.data === undefined ? "Compare builds" : `Compare builds of ${query.data.environment.name}`}>
      <p className="back-link">
        <Link to="/environments/$id" params={{ id }}>
          Back to the environment
        </Link>
      </p>
      <Loaded query={query}>
        {({ active }) => (
          <div className="form-row card">
            <BuildChoice label="Before" side="from" {...{ id, builds, from, to }} activeId={active.buildId} />
            <BuildChoice label="After" side="to" {...{ id, builds, from, to }} activeId={active.buildId} />
          </div>
        )}
      </Loaded>
      {query.data !== undefined && (from === undefined || to === undefined) && (
        <Empty icon="tool" title="Nothing to compare">
          <p>Two builds that have ended are needed.</p>
        </Empty>
      )}
      {from !== undefined && to !== undefined && <Difference id={id} from={from} to={to} />}
    </Page>
  );
}

interface BuildChoiceProps {
  id: string;
  label: string;
  side: "from" | "to";
  builds: Build[];
  from: string | undefined;
  to: string | undefined;
  activeId: string | undefined;
}

function BuildChoice({ id, label, side, builds, from, to, activeId }: BuildChoiceProps) {
  const navigate = useNavigate();
  const chosen = side === "from" ? from : to;
  const choose = (buildId: string) => {
    const search = { ...(from !== undefined && { from }), ...(to !== undefined && { to }), [side]: buildId };
    void navigate({ to: "/environments/$id/diff", params: { id }, search, replace: true });
  };
  return (
    <Field label={label}>
      <Select value={chosen ?? ""} onChange={({ target }) => choose(target.value)}>
        {!builds.some((build) => build.id === chosen) && <option value={chosen ?? ""}>{chosen ?? "None"}</option>}
        {builds.map((build) => (
          <option key={build.id} value={build.id}>
            {build.id.slice(0, 21)} · {ago(build.createdAt)}
            {build.id === activeId ? " · active" : ""}
            {build.status === "FAILED" ? " · failed" : ""}
          </option>
        ))}
      </Select>
    </Field>
  );
}

function Difference({ id, from, to }: { id: string; from: string; to: string }) {
  const query = useQuery(buildDiffQuery(id, { from, to }));
  if (from === to) return <Notice>Choose two different builds.</Notice>;
  return (
    <>
      {query.isPending && <Notice tone="busy">Reading both disks. This takes some seconds.</Notice>}
      <Loaded query={query}>
        {(diff) => (
          <>
            <Figures diff={diff} />
            <Entries title="Packages" nameOf="Package" rows={diff.packages} />
            <Entries
              title="Files"
              nameOf="File"
              rows={diff.files.map(({ path, ...sides }) => ({ name: path, ...sides }))}
            />
            {diff.truncated && (
              <Notice>
                Only the first 5,000 are shown. The rest: platform env diff {from} {to}
              </Notice>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

const Figures = ({ diff: { packages, files, truncated, bytesBefore, bytesAfter } }: { diff: BuildDiff }) => {
  const more = truncated ? "+" : "";
  const by = bytesAfter - bytesBefore;
  return (
    <dl className="figures">
      <div className="figure">
        <dt>Packages</dt>
        <dd>
          {packages.length}
          {more}
        </dd>
      </div>
      <div className="figure">
        <dt>Files</dt>
        <dd>
          {files.length}
          {more}
        </dd>
      </div>
      <div className="figure">
        <dt>Size</dt>
        <dd>
          {fileSize(bytesAfter)}{" "}
          <small className="soft">{by === 0 ? "as before" : `${by > 0 ? "+" : "−"}${fileSize(Math.abs(by))}`}</small>
        </dd>
      </div>
    </dl>
  );
};

interface Entry {
  name: string;
  before?: string | undefined;
  after?: string | undefined;
}

const shownAtFirst = 100;

function Entries({ title, nameOf, rows }: { title: string; nameOf: string; rows: Entry[] }) {
  const [shown, setShown] = useState(shownAtFirst);
  return (
    <section className="section">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p className="soft">No difference.</p>
      ) : (
        <table className="table">
          <TableHead columns={["Change", nameOf, "Before", "After"]} />
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <EntryRow key={row.name} row={row} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > shown && (
        <Button onClick={() => setShown(shown + 10 * shownAtFirst)}>Show more of {rows.length}</Button>
      )}
    </section>
  );
}

const EntryRow = ({ row: { name, before, after }, nameOf }: { row: Entry; nameOf: string }) => {
  const [word, tone] =
    before === undefined
      ? (["Added", "tag-good"] as const)
      : after === undefined
        ? (["Removed", "tag-bad"] as const)
        : (["Changed", ""] as const);
  return (
    <tr data-difference={word}>
      <td data-label="Change">
        <span className={`tag ${tone}`}>{word}</span>
      </td>
      <td data-label={nameOf}>
        <code>{name}</code>
      </td>
      <td data-label="Before">{before}</td>
      <td data-label="After">{after}</td>
    </tr>
  );
};
