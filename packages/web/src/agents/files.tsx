// Files that an agent has left for people.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Moment } from "../components/time.tsx";
import { fileSize } from "../text/format.ts";

export function FilesTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { data: agent } = useQuery(agentQuery(id));
  if (!agent) return null;
  if (agent.artifacts.length === 0)
    return (
      <Empty icon="file" title="No files">
        <p>
          What an agent writes into <code>artifacts/</code> is kept and shown here.
        </p>
      </Empty>
    );
  return (
    <ul className="rows files">
      {agent.artifacts.map(({ path, sizeBytes, updatedAt }) => (
        <li key={path} className="row">
          <Icon name="file" />
          <a className="row-name" href={`/agents/${id}/artifacts?path=${encodeURIComponent(path)}`}>
            {path}
          </a>
          <span className="row-end">
            <span className="soft numeric">{fileSize(sizeBytes)}</span>
            <span className="row-time">
              <Moment at={updatedAt} />
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}
