// What a run in shadow mode would have written, shown on demand.
import type { Firing } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Failure } from "../components/feedback.tsx";
import { proposalsQuery } from "./queries.ts";

export function Proposals({ firing }: { firing: Firing }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({ ...proposalsQuery(firing), enabled: isOpen });
  return (
    <details className="proposals" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Proposals</summary>
      {error !== null && <Failure error={error} />}
      {data?.items.length === 0 && <p className="soft">The run would have written nothing.</p>}
      {data?.items.map(({ id, tool, arguments: given }) => (
        <div key={id} className="proposal">
          <strong>{titleOf(tool)}</strong>
          <dl>
            {Object.entries(given).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{textOf(value)}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </details>
  );
}

/** `comment_on_pull_request` is "Comment on pull request". */
const titleOf = (tool: string): string => {
  const words = tool.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
};

/** Texts as they are: patches and comments have many lines. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
