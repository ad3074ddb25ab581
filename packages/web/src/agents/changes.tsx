// What an agent has changed, file by file, pushed or not.
import type { RepositoryDiff } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { agentQuery, diffQuery } from "../api/queries.ts";
import { Button } from "../components/controls.tsx";
import { type DiffMode, FileDiff, type FileDiffProps, LineCount } from "../components/diff.tsx";
import { DiffModeSwitch, useDiffMode } from "../components/diff-mode.tsx";
import { Empty, Failure, Notice, Skeleton } from "../components/feedback.tsx";
import { useStored } from "../components/stored.ts";
import { Moment } from "../components/time.tsx";
import { type PatchFile, readPatch } from "../text/patch.ts";
import { anchorOf, isSameLine, type ReviewComment } from "./review.ts";
import { ReviewBar, useFileNotes } from "./review-notes.tsx";
import { type ChangedFile, changedSince, noLongerChanged, type Reviewed, reviewOf } from "./reviewed.ts";

export function ChangesTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { data, error, isPending, isFetching, refetch } = useQuery(diffQuery(id));
  const { data: agent } = useQuery(agentQuery(id));
  const [mode, setMode] = useDiffMode();
  const [reviewed, setReviewed] = useStored<Reviewed | null>(`reviewed:${id}`, null);
  const [isNewOnly, setNewOnly] = useState(true);
  const files = useMemo(() => data?.items.flatMap(filesOf) ?? [], [data]);
  const since = isNewOnly ? reviewed : null;
  if (isPending) return <Skeleton lines={6} />;
  if (!data) return <Failure error={error} retry={() => refetch()} />;
  return (
    <div className="changes">
      <div className="changes-bar">
        <DiffModeSwitch mode={mode} onChange={setMode} />
        {reviewed && <SinceSwitch isNewOnly={isNewOnly} onChange={setNewOnly} />}
        {files.length > 0 && (
          <Button onClick={() => setReviewed(reviewOf(files, new Date().toISOString()))}>Mark as reviewed</Button>
        )}
        <Button isBusy={isFetching} onClick={() => refetch()}>
          Refresh
        </Button>
      </div>
      {data.items.length === 0 && (
        <Empty icon="file" title="No repository yet">
          <p>The agent has no repository, or has not fetched it yet.</p>
        </Empty>
      )}
      {since && <SinceReview since={since} files={files} />}
      {data.items.map((diff) => (
        <Repository
          key={diff.repoUrl}
          agentId={id}
          diff={diff}
          mode={mode}
          since={since}
          takesComments={agent?.permissions.followUp ?? false}
        />
      ))}
      {agent && <ReviewBar agent={agent} isShown={(comment) => isInDiff(comment, data.items)} />}
    </div>
  );
}

const filesOf = (diff: RepositoryDiff): ChangedFile[] =>
  readPatch(textOf(diff)).map((file) => ({ repoUrl: diff.repoUrl, file }));

const SinceSwitch = ({ isNewOnly, onChange }: { isNewOnly: boolean; onChange(isNewOnly: boolean): void }) => (
  <fieldset className="segments">
    <legend className="sr-only">Changes that are shown</legend>
    {[true, false].map((one) => (
      <button
        key={String(one)}
        type="button"
        className="segment"
        aria-pressed={isNewOnly === one}
        onClick={() => onChange(one)}
      >
        {one ? "Since my review" : "All"}
      </button>
    ))}
  </fieldset>
);

function SinceReview({ since, files }: { since: Reviewed; files: ChangedFile[] }) {
  const gone = noLongerChanged(since, files);
  const isSame = files.every((one) => changedSince(since, one) === null);
  return (
    <p className="soft" role="status">
      You reviewed these changes <Moment at={since.at} />.{isSame && gone.length === 0 && " Nothing has changed since."}
      {gone.length > 0 && ` No longer changed: ${gone.join(", ")}.`}
    </p>
  );
}

const isInDiff = (comment: ReviewComment, diffs: RepositoryDiff[]): boolean =>
  diffs
    .filter(({ repoUrl }) => repoUrl === comment.repoUrl)
    .flatMap((diff) => readPatch(textOf(diff)))
    .filter(({ path }) => path === comment.path)
    .flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines))
    .some((line) => {
      const anchor = anchorOf(line);
      return anchor !== null && isSameLine(anchor, comment);
    });

interface RepositoryProps {
  agentId: string;
  diff: RepositoryDiff;
  mode: DiffMode;
  /** Only what is new since then; null: everything. */
  since: Reviewed | null;
  takesComments: boolean;
}

function Repository({ agentId, diff, mode, since, takesComments }: RepositoryProps) {
  const files = useMemo(
    () => filesOf(diff).flatMap((one) => (since ? (changedSince(since, one) ?? []) : one.file)),
    [diff, since],
  );
  const [viewed, setViewed] = useStored<string[]>(`viewed:${agentId}`, none);
  const sum = (count: (file: PatchFile) => number) => files.reduce((total, file) => total + count(file), 0);
  return (
    <section className="repository" aria-label={diff.repoUrl}>
      <p className="repository-facts">
        <strong>{diff.repoUrl}</strong> <code>{diff.branch}</code> into <code>{diff.baseBranch}</code>
        <span className="soft">
          {files.length} {files.length === 1 ? "file" : "files"}
        </span>
        <LineCount added={sum(({ added }) => added)} removed={sum(({ removed }) => removed)} />
      </p>
      {files.length === 0 && !since && <Empty icon="check" title="Nothing is changed" />}
      {files.map((file) => {
        const mark = `${diff.repoUrl}:${file.path}:${file.added}:${file.removed}`;
        const others = viewed.filter((one) => one !== mark);
        return (
          <ReviewedFile
            key={file.path}
            {...{ agentId, repoUrl: diff.repoUrl, file, mode, takesComments }}
            isViewed={viewed.includes(mark)}
            onViewed={(isViewed) => setViewed(isViewed ? [...others, mark] : others)}
          />
        );
      })}
      {diff.truncated && (
        <Notice tone="busy">
          The patch has {diff.patchBytes} bytes; only its beginning is shown.{" "}
          <a href={`/v1/agents/${agentId}/diff?${new URLSearchParams({ repository: diff.repoUrl })}`}>
            Download the whole patch
          </a>
        </Notice>
      )}
    </section>
  );
}

interface ReviewedFileProps extends Omit<FileDiffProps, "notes"> {
  agentId: string;
  repoUrl: string;
  takesComments: boolean;
}

function ReviewedFile({ agentId, repoUrl, takesComments, ...diff }: ReviewedFileProps) {
  const notes = useFileNotes({ agentId, repoUrl, path: diff.file.path });
  return <FileDiff {...diff} notes={takesComments ? notes : undefined} />;
}

const none: string[] = [];

/** Files that are not UTF-8 have bytes that no text can show. */
const textOf = ({ encoding, patch }: RepositoryDiff): string =>
  encoding === "utf-8"
    ? patch
    : new TextDecoder().decode(Uint8Array.from(atob(patch), (character) => character.charCodeAt(0)));
