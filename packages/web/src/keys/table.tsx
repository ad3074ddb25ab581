// Keys with what can be done with each of them.
import type { ApiKey } from "@agentcli/protocol/api";
import { ConfirmButton } from "../components/confirm.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { RotateButton } from "./rotate.tsx";
import type { KeyActions } from "./use-key-actions.ts";

export interface KeyTableProps {
  keys: ApiKey[];
  /** Where all keys have the same owner it is not shown. */
  hasOwners?: boolean;
  actions: KeyActions;
}

export const KeyTable = ({ keys, hasOwners = false, actions }: KeyTableProps) => (
  <table className="table">
    <TableHead
      columns={["Name", ...(hasOwners ? ["Owner"] : []), "May", "Created", "Last used", "Expires"]}
      hasActions
    />
    <tbody>
      {keys.map((key) => (
        <tr key={key.id} data-key={key.id}>
          <td data-label="Name">
            {key.name} <code className="soft">plt_{key.id}_…</code>
          </td>
          {hasOwners && <td data-label="Owner">{key.owner.name}</td>}
          <td data-label="May">{accessOf(key)}</td>
          <td data-label="Created">
            <Moment at={key.createdAt} />
          </td>
          <td data-label="Last used">{key.lastUsedAt === undefined ? "Never" : <Moment at={key.lastUsedAt} />}</td>
          <td data-label="Expires">
            <Expiry apiKey={key} />
          </td>
          <td className="table-actions">{isValid(key) && <Actions apiKey={key} actions={actions} />}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const isValid = ({ revokedAt, expiresAt }: ApiKey): boolean =>
  revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.now());

const accessOf = ({ scopes }: ApiKey): string => {
  if (scopes.includes("admin")) return "Administer";
  return scopes.every((scope) => scope.endsWith(":read")) ? "Read" : "Read and write";
};

const Expiry = ({ apiKey: { revokedAt, expiresAt, successorId } }: { apiKey: ApiKey }) => {
  if (revokedAt !== undefined)
    return (
      <>
        Revoked <Moment at={revokedAt} />
      </>
    );
  if (expiresAt === undefined) return "Never";
  return (
    <>
      <Moment at={expiresAt} /> {successorId !== undefined && <span className="soft">(rotated)</span>}
    </>
  );
};

const Actions = ({ apiKey, actions }: { apiKey: ApiKey; actions: KeyActions }) => {
  const { name, owner, successorId } = apiKey;
  // Who rotates a key sees the new one: only its owner does, or an administrator for a service account.
  const mayRotate = successorId === undefined && (owner.isCaller || owner.type === "service_account");
  return (
    <>
      {mayRotate && <RotateButton name={name} onRotate={(hours) => actions.rotate(apiKey, hours)} />}
      <ConfirmButton look="quiet" label="Revoke" title={`Revoke ${name}?`} onConfirm={() => actions.revoke(apiKey)}>
        <p>Programs that use it are refused within a second. This cannot be undone.</p>
      </ConfirmButton>
    </>
  );
};
