// One operation of the API: who may call it, an example, its fields, and its errors.
import { useState } from "react";
import { Button } from "../components/controls.tsx";
import { TableHead } from "../components/table.tsx";
import { type ApiDocument, curlOf, exampleOf, type FieldRow, listFields, type Operation, typeOf } from "./document.ts";

export function OperationDetails({ operation, document }: { operation: Operation; document: ApiDocument }) {
  const { schemas } = document.components;
  const { scope, parameters, body, answer, problems } = operation;
  const rows = parameters.map(({ name, required, description = "", schema, ...one }) => ({
    ...{ name, isRequired: required, type: schema.enum ? schema.enum.map(String).join(" | ") : typeOf(schema) },
    description: `${description}${one.in === "path" ? `${description === "" ? "" : ". "}In the path` : ""}`,
  }));
  return (
    <div className="operation-body">
      <p className="soft">
        {scope === null ? "Any key, or a session." : "A session, or a key with the scope "}
        {scope !== null && <code>{scope}</code>}
      </p>
      <Example title="Example" text={curlOf(operation, location.origin, schemas)} />
      <Fields title="Parameters" rows={rows} />
      {body && <Fields title="Body" rows={listFields(body.schema, schemas)} />}
      <h3>
        Answer <span className="tag tag-good">{answer.status}</span>
      </h3>
      <p className="soft">{answer.description}</p>
      {answer.schema && <Example title="Answer" text={JSON.stringify(exampleOf(answer.schema, schemas), null, 2)} />}
      {answer.schema && <Fields title="Members of the answer" rows={listFields(answer.schema, schemas)} />}
      <h3>Errors</h3>
      <ul className="problems">
        {problems.map(({ status, codes }) => (
          <li key={status}>
            <span className="tag">{status}</span> <code>{codes}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Example({ title, text }: { title: string; text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    setCopied(true);
  };
  return (
    <div className="example">
      <Button look="quiet" icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
        {isCopied ? "Copied" : "Copy"} <span className="sr-only">{title}</span>
      </Button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in. */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

const Fields = ({ title, rows }: { title: string; rows: FieldRow[] }) =>
  rows.length > 0 && (
    <details className="fields" open={rows.length <= 12}>
      <summary>
        {title} <span className="count">{rows.length}</span>
      </summary>
      <table className="table is-top">
        <TableHead columns={["Name", "Type", "Meaning"]} />
        <tbody>
          {rows.map(({ name, type, isRequired, description }) => (
            <tr key={name}>
              <td data-label="Name">
                <code>{name}</code> {isRequired && <span className="tag">required</span>}
              </td>
              <td data-label="Type" className="member-type">
                <code>{type}</code>
              </td>
              <td data-label="Meaning">{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
