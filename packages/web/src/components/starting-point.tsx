// Where new agents work: a repository and a branch, or an environment, which brings its repositories.
import { useQuery } from "@tanstack/react-query";
import { environmentsQuery, repositoriesQuery } from "../api/queries.ts";
import { repositoryName } from "../text/format.ts";
import { Field, Select } from "./controls.tsx";

export interface StartingPoint {
  repository: string;
  branch: string;
}

export interface StartingPointProps extends StartingPoint {
  isRequired?: true;
  onChange(change: Partial<StartingPoint>): void;
}

/** Names offered, and takes any git URL. */
export function RepositoryFields({ repository, branch, isRequired, onChange }: StartingPointProps) {
  const { data: offered } = useQuery(repositoriesQuery);
  return (
    <>
      <Field label="Repository" hint={`Choose one, or give any git URL.${isRequired ? "" : " Empty: none."}`}>
        <input
          className="input"
          list="repositories"
          required={isRequired}
          maxLength={2_000}
          value={repository}
          placeholder="https://github.com/owner/name"
          onChange={({ target }) => onChange({ repository: target.value })}
        />
        <datalist id="repositories">
          {offered?.items.map(({ url }) => (
            <option key={url} value={url}>
              {repositoryName(url)}
            </option>
          ))}
        </datalist>
      </Field>
      <Field label="Branch" hint="Where it starts. Empty: the default branch.">
        <input
          className="input"
          maxLength={500}
          value={branch}
          placeholder="main"
          onChange={({ target }) => onChange({ branch: target.value })}
        />
      </Field>
    </>
  );
}

export interface EnvironmentSelectProps {
  /** A name; empty: none. */
  value: string;
  /** What is offered in place of a name. */
  none: string;
  isRequired?: true;
  onChange(name: string): void;
}

export function EnvironmentSelect({ value, none, isRequired, onChange }: EnvironmentSelectProps) {
  const { data } = useQuery(environmentsQuery);
  // A personal one may have the name of one of the team.
  const names = [...new Set([...(data?.items ?? []).map(({ name }) => name), ...(value === "" ? [] : [value])])];
  return (
    <Select value={value} required={isRequired} onChange={({ target }) => onChange(target.value)}>
      <option value="">{none}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </Select>
  );
}
