// The API reference: every operation with its fields, an example and what can go wrong, from the document that is served.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { request } from "../api/request.ts";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { type ApiDocument, groupOperations, type Operation, readOperations } from "./document.ts";
import { OperationDetails } from "./operation.tsx";

const documentQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: ({ signal }) => request<ApiDocument>("/openapi.json", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

export function ReferencePage() {
  const query = useQuery(documentQuery);
  return (
    <Page title="API reference">
      <p className="page-lead">
        Programs send a <Link to="/keys">key</Link> as <code>Authorization: Bearer</code>. What is refused is answered
        with <code>{`{"error": {"code", "message"}}`}</code>. <a href="/openapi.json">openapi.json</a> has all of it for
        other tools.
      </p>
      <Loaded query={query}>{(document) => <Operations document={document} />}</Loaded>
    </Page>
  );
}

function Operations({ document }: { document: ApiDocument }) {
  const { q = "", operation: openId } = useSearch({ from: "/api-reference" });
  const navigate = useNavigate();
  const operations = useMemo(() => readOperations(document), [document]);
  const groups = groupOperations(operations, q);
  const count = groups.reduce((total, [, found]) => total + found.length, 0);
  useEffect(() => {
    if (openId !== undefined) window.document.getElementById(openId)?.scrollIntoView({ block: "nearest" });
  }, [openId]);
  return (
    <>
      <div className="filters">
        <span className="search">
          <Icon name="search" />
          <input
            className="input"
            type="search"
            aria-label="Search operations"
            placeholder="Search: agents, post run, /v1/usage"
            value={q}
            onChange={({ target }) =>
              void navigate({
                to: "/api-reference",
                search: target.value === "" ? {} : { q: target.value },
                replace: true,
              })
            }
          />
        </span>
        <span className="soft reference-count" role="status">
          {count} {count === 1 ? "operation" : "operations"}
        </span>
      </div>
      {count === 0 && <Empty icon="search" title="Nothing matches" />}
      {groups.map(([tag, found]) => (
        <section key={tag} className="group">
          <h2 className="group-title">
            {tag} <span className="count">{found.length}</span>
          </h2>
          <ul className="rows operations">
            {found.map((operation) => (
              <OperationRow
                key={operation.id}
                operation={operation}
                isOpen={operation.id === openId}
                document={document}
                search={q === "" ? {} : { q }}
              />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

interface OperationRowProps {
  operation: Operation;
  isOpen: boolean;
  document: ApiDocument;
  search: { q?: string };
}

const OperationRow = ({ operation, isOpen, document, search }: OperationRowProps) => (
  <li className="operation" id={operation.id}>
    <Link
      className="operation-head"
      to="/api-reference"
      search={isOpen ? search : { ...search, operation: operation.id }}
      replace
      resetScroll={false}
      aria-expanded={isOpen}
      role="button"
    >
      <span className={`method method-${operation.method.toLowerCase()}`}>{operation.method}</span>
      <code className="operation-path">{operation.path}</code>
      <span className="operation-summary">{operation.summary}</span>
    </Link>
    {isOpen && <OperationDetails operation={operation} document={document} />}
  </li>
);
