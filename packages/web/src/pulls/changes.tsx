// The changes of a pull request, with the comments on their lines.
import type { PullRequestComment, PullRequestDetails } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type DiffMode, FileDiff, type LineNotes } from "../components/diff.tsx";
import { DiffModeSwitch, useDiffMode } from "../components/diff-mode.tsx";
import { Empty, Failure, Notice } from "../components/feedback.tsx";
import { LineCount } from "../components/line-count.tsx";
import { LineEditor } from "../components/line-editor.tsx";
import { Loaded } from "../components/page.tsx";
import { useStored } from "../components/stored.ts";
import { type PatchFile, readPatch } from "../text/patch.ts";
import { Posted } from "./discussion.tsx";
import { type PullName, pullDiffQuery } from "./queries.ts";
import { usePullAction } from "./use-pull-action.ts";

interface PullProps {
  pull: PullName;
  details: PullRequestDetails;
}

const none: string[] = [];

export function PullChanges({ pull, details }: PullProps) {
  const query = useQuery(pullDiffQuery(pull, details));
  const [mode, setMode] = useDiffMode();
  const files = useMemo(() => readPatch(query.data?.patch ?? ""), [query.data]);
  const [viewed, setViewed] = useStored<string[]>(`viewed-pull:${pull.name}:${pull.number}`, none);
  const sum = (count: (file: PatchFile) => number) => files.reduce((total, file) => total + count(file), 0);
  return (
    <Loaded query={query}>
      {({ truncated, patchBytes }) => (
        <div className="changes">
          <div className="changes-bar">
            <DiffModeSwitch mode={mode} onChange={setMode} />
            <span className="soft">
              {files.length} {files.length === 1 ? "file" : "files"}{" "}
              <LineCount added={sum(({ added }) => added)} removed={sum(({ removed }) => removed)} />
            </span>
          </div>
          {files.length === 0 && <Empty icon="check" title="Nothing is changed" />}
          {files.map((file) => {
            const mark = `${file.path}:${details.headCommit}`;
            const others = viewed.filter((one) => one !== mark);
            return (
              <CommentedFile
                key={file.path}
                {...{ pull, file, mode }}
                comments={details.comments.filter(({ path }) => path === file.path)}
                isViewed={viewed.includes(mark)}
                onViewed={(isViewed) => setViewed(isViewed ? [...others, mark] : others)}
              />
            );
          })}
          {truncated && (
            <Notice tone="busy">
              The patch has {patchBytes} bytes; only its beginning is shown.{" "}
              <a href={`/repositories/${encodeURIComponent(pull.name)}/pulls/${pull.number}/diff`}>
                Download the whole patch
              </a>
            </Notice>
          )}
        </div>
      )}
    </Loaded>
  );
}

interface CommentedFileProps {
  pull: PullName;
  file: PatchFile;
  mode: DiffMode;
  comments: PullRequestComment[];
  isViewed: boolean;
  onViewed(isViewed: boolean): void;
}

function CommentedFile({ pull, comments, ...diff }: CommentedFileProps) {
  const notes = useLineComments(pull, diff.file.path, comments);
  return <FileDiff {...diff} notes={notes} />;
}

/** Comments belong to lines of the file after the changes. */
function useLineComments(pull: PullName, path: string, comments: PullRequestComment[]): LineNotes {
  const [open, setOpen] = useState<number | null>(null);
  const { run, isPending, error } = usePullAction(pull);
  const send = async (body: string) => {
    if (await run({ method: "POST", below: "/comments", body: { body, path, line: open } })) setOpen(null);
  };
  return {
    takes: ({ kind, after }) => (kind === "add" || kind === "same") && after !== null,
    add: ({ after }) => setOpen(after),
    below({ kind, after }) {
      if (after === null || kind === "remove") return null;
      const own = comments.filter(({ line }) => line === after);
      if (own.length === 0 && open !== after) return null;
      return (
        <div className="line-notes">
          {own.map((comment) => (
            <Posted key={comment.id} {...comment} />
          ))}
          {open === after && (
            <LineEditor line={after} isBusy={isPending} onSave={send} onCancel={() => setOpen(null)} />
          )}
          {open === after && error !== null && <Failure error={error} />}
        </div>
      );
    },
  };
}
