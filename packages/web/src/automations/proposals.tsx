// What a run in shadow mode would have written, shown on demand.
import type { Firing } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { proposalsQuery } from "./queries.ts";

export function Proposals({ firing }: { firing: Firing }) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({ ...proposalsQuery(firing), enabled: isOpen });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Proposals</summary>
      {data?.items.length === 0 && <p className="soft">The run would have written nothing.</p>}
      {data?.items.map(({ id, tool, arguments: given }) => (
        <div key={id}>
          <strong>{tool}</strong>
          <pre className="prompt-text">{textOf(given)}</pre>
        </div>
      ))}
    </details>
  );
}

/** Texts as they are: patches and comments have many lines. */
const textOf = (given: Record<string, unknown>): string =>
  Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
