// What an agent has changed, file by file, pushed or not.
import type { AgentDetails, RepositoryDiff } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { agentQuery, diffQuery } from "../api/queries.ts";
import { Button } from "../components/controls.tsx";
import { type DiffMode, FileDiff, type FileDiffProps } from "../components/diff.tsx";
import { DiffModeSwitch, useDiffMode } from "../components/diff-mode.tsx";
import { Empty, Failure, Notice, Skeleton } from "../components/feedback.tsx";
import { LineCount } from "../components/line-count.tsx";
import { useStored } from "../components/stored.ts";
import { Moment } from "../components/time.tsx";
import { type PatchFile, readPatch } from "../text/patch.ts";
import type { ChangesView } from "./changes-view.ts";
import { anchorOf, isSameLine, type ReviewComment } from "./review.ts";
import { ReviewBar, useFileNotes } from "./review-notes.tsx";
import { type ChangedFile, changedSince, noLongerChanged, type Reviewed, reviewOf } from "./reviewed.ts";

export function ChangesTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { data: agent } = useQuery(agentQuery(id));
  const [mode, setMode] = useDiffMode();
  const [reviewed, setReviewed] = useStored<Reviewed | null>(`reviewed:${id}`, null);
  const view = useView(reviewed);
  const all = useQuery({ ...diffQuery(id, "agent"), enabled: view !== "turn" });
  const turn = useQuery({ ...diffQuery(id, "run"), enabled: view === "turn" });
  const { data, error, isPending, isFetching, refetch } = view === "turn" ? turn : all;
  const files = useMemo(() => data?.items.flatMap(filesOf) ?? [], [data]);
  const since = view === "review" ? reviewed : null;
  const known = [...(all.data?.items ?? []), ...(turn.data?.items ?? [])];
  return (
    <div className="changes">
      <div className="changes-bar">
        <ViewSwitch view={view} hasTurns={(agent?.runs.length ?? 0) > 1} hasReview={reviewed !== null} />
        <DiffModeSwitch mode={mode} onChange={setMode} />
        {files.length > 0 && view !== "turn" && (
          <Button onClick={() => setReviewed(reviewOf(files, new Date().toISOString()))}>Mark as reviewed</Button>
        )}
        <Button isBusy={isFetching} onClick={() => refetch()}>
          Refresh
        </Button>
      </div>
      {since && data && <SinceReview since={since} files={files} />}
      {isPending && <Skeleton lines={6} />}
      {!isPending && !data && <Failure error={error} retry={() => refetch()} />}
      {data && agent && <Repositories agent={agent} diffs={data.items} mode={mode} since={since} view={view} />}
      {agent && <ReviewBar agent={agent} isShown={(comment) => isInDiff(comment, known)} />}
    </div>
  );
}

/** Part of the address; without it what is new since the last review. */
function useView(reviewed: Reviewed | null): ChangesView {
  const { show } = useSearch({ from: "/agents/$id/changes" });
  return show ?? (reviewed ? "review" : "all");
}

const viewNames = { all: "All changes", turn: "This turn", review: "Since my review" } as const;

interface ViewSwitchProps {
  view: ChangesView;
  hasTurns: boolean;
  hasReview: boolean;
}

function ViewSwitch({ view, hasTurns, hasReview }: ViewSwitchProps) {
  const navigate = useNavigate({ from: "/agents/$id/changes" });
  const offered = [
    "all" as const,
    ...(hasTurns || view === "turn" ? (["turn"] as const) : []),
    ...(hasReview || view === "review" ? (["review"] as const) : []),
  ];
  if (offered.length === 1) return null;
  return (
    <fieldset className="segments">
      <legend className="sr-only">Changes that are shown</legend>
      {offered.map((one) => (
        <button
          key={one}
          type="button"
          className="segment"
          aria-pressed={view === one}
          onClick={() => navigate({ search: { show: one }, replace: true })}
        >
          {viewNames[one]}
        </button>
      ))}
    </fieldset>
  );
}

interface RepositoriesProps {
  agent: AgentDetails;
  diffs: RepositoryDiff[];
  mode: DiffMode;
  since: Reviewed | null;
  view: ChangesView;
}

function Repositories({ agent: { id, permissions }, diffs, mode, since, view }: RepositoriesProps) {
  if (diffs.length === 0)
    return (
      <Empty icon="file" title={view === "turn" ? "This turn has changed nothing yet" : "No repository yet"}>
        <p>{view === "turn" ? "It waits to begin." : "The agent has no repository, or has not fetched it yet."}</p>
      </Empty>
    );
  return diffs.map((diff) => (
    <Repository
      key={diff.repoUrl}
      agentId={id}
      {...{ diff, mode, since }}
      takesComments={permissions.followUp}
      nothing={view === "turn" ? "This turn has changed nothing" : "Nothing is changed"}
    />
  ));
}

const filesOf = (diff: RepositoryDiff): ChangedFile[] =>
  readPatch(textOf(diff)).map((file) => ({ repoUrl: diff.repoUrl, file }));

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
  /** Said of a diff without files. */
  nothing: string;
}

function Repository({ agentId, diff, mode, since, takesComments, nothing }: RepositoryProps) {
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
      {files.length === 0 && !since && <Empty icon="check" title={nothing} />}
      {files.map((file) => {
        const mark = `${diff.repoUrl}:${file.path}:${file.blobs}`;
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
          <a href={`/v1/agents/${agentId}/diff${new URL(diff.patchUrl).search}`}>Download the whole patch</a>
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
