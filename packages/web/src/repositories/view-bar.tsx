// Where people are in a repository: the branch, to choose another, and the path as links.
import type { RepositoryDetails } from "@agentcli/protocol/api";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Select } from "../components/controls.tsx";
import type { RepositoryView } from "./view.ts";

export interface ViewBarProps {
  repository: RepositoryDetails;
  view: RepositoryView;
  /** The tab that another branch is shown in. */
  to: "/repositories/$name" | "/repositories/$name/commits";
  children?: ReactNode;
}

export const ViewBar = ({ repository, view, to, children }: ViewBarProps) => (
  <div className="view-bar">
    <BranchChoice repository={repository} view={view} to={to} />
    <Path name={repository.name} view={view} />
    {children !== undefined && <div className="view-links">{children}</div>}
  </div>
);

function BranchChoice({ repository: { name, branches, defaultBranch }, view, to }: ViewBarProps) {
  const navigate = useNavigate();
  const chosen = view.ref ?? defaultBranch;
  const names = branches.map((branch) => branch.name);
  const isCommit = /^[0-9a-f]{40}$/.test(chosen);
  return (
    <Select
      aria-label="Branch"
      value={chosen}
      onChange={({ target }) => {
        const ref = target.value === defaultBranch ? {} : { ref: target.value };
        const path = view.path === undefined ? {} : { path: view.path };
        void navigate({ to, params: { name }, search: { ...ref, ...path } });
      }}
    >
      {!names.includes(chosen) && <option value={chosen}>{isCommit ? `Commit ${chosen.slice(0, 10)}` : chosen}</option>}
      {names.map((branch) => (
        <option key={branch} value={branch}>
          {branch}
        </option>
      ))}
    </Select>
  );
}

/** Each folder above is a link. */
function Path({ name, view: { ref, path = "" } }: { name: string; view: RepositoryView }) {
  const parts = path.split("/").filter(Boolean);
  const search = (at: string): RepositoryView => ({
    ...(ref !== undefined && { ref }),
    ...(at !== "" && { path: at }),
  });
  return (
    <nav className="path" aria-label="Path">
      <Link to="/repositories/$name" params={{ name }} search={search("")}>
        {name}
      </Link>
      {parts.map((part, index) => {
        const at = parts.slice(0, index + 1).join("/");
        return (
          <span key={at} className="path-part">
            {index === parts.length - 1 ? (
              <strong>{part}</strong>
            ) : (
              <Link to="/repositories/$name" params={{ name }} search={search(at)}>
                {part}
              </Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}
