// Files that an agent has left for people: pictures and videos are shown, texts on request, all can be saved.
import type { Artifact } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../api/queries.ts";
import { readRefusal } from "../api/request.ts";
import { Button } from "../components/controls.tsx";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Output } from "../components/output.tsx";
import { Loaded } from "../components/page.tsx";
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
      {agent.artifacts.map((artifact) => (
        <FileRow key={artifact.path} artifact={artifact} href={hrefOf(id, artifact)} />
      ))}
    </ul>
  );
}

/** With the time, so that a file that was written again is fetched again. */
const hrefOf = (id: string, { path, updatedAt }: Artifact): string =>
  `/agents/${id}/artifacts?${new URLSearchParams({ path, of: updatedAt })}`;

type Kind = "image" | "video" | "text" | "other";

const kinds: [Kind, RegExp][] = [
  ["image", /\.(?:png|jpe?g|gif|webp)$/i],
  ["video", /\.(?:mp4|webm)$/i],
  ["text", /\.(?:txt|log|md|json|jsonl|csv|xml|ya?ml|diff|patch|out)$/i],
];

const kindOf = (path: string): Kind => kinds.find(([, name]) => name.test(path))?.[0] ?? "other";

/** A longer text is saved instead. */
const maxTextBytes = 1024 * 1024;

function FileRow({ artifact, href }: { artifact: Artifact; href: string }) {
  const { path, sizeBytes, updatedAt } = artifact;
  const [isOpen, setOpen] = useState(false);
  const kind = kindOf(path);
  const hasText = kind === "text" && sizeBytes <= maxTextBytes;
  return (
    <li className="file-entry">
      <div className="row">
        <Icon name="file" />
        <div className="row-main">
          <a className="row-name" href={href}>
            {path}
          </a>
        </div>
        <span className="row-end">
          {hasText && (
            <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? "Hide" : "Show"} <span className="sr-only">{path}</span>
            </Button>
          )}
          <span className="soft numeric">{fileSize(sizeBytes)}</span>
          <span className="row-time">
            <Moment at={updatedAt} />
          </span>
        </span>
      </div>
      {kind === "image" && <img className="file-media" src={href} alt={path} loading="lazy" />}
      {kind === "video" && (
        // biome-ignore lint/a11y/useMediaCaption: agents record screens, without a sound to write down.
        <video className="file-media" src={href} aria-label={path} controls preload="metadata" />
      )}
      {hasText && isOpen && <TextFile href={href} />}
    </li>
  );
}

const textQuery = (href: string) =>
  queryOptions({
    queryKey: ["file", href],
    async queryFn({ signal }) {
      const response = await fetch(href, { signal });
      if (!response.ok) throw await readRefusal(response);
      return response.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

const TextFile = ({ href }: { href: string }) => (
  <Loaded query={useQuery(textQuery(href))}>{(text) => <Output text={text} />}</Loaded>
);
