// One commit: its message, who made it, and its changes.
import type { CommitDetails } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { FileDiff } from "../components/diff.tsx";
import { DiffModeSwitch, useDiffMode } from "../components/diff-mode.tsx";
import { Empty, Notice } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { LineCount } from "../components/line-count.tsx";
import { Loaded } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { fileSize } from "../text/format.ts";
import { readPatch } from "../text/patch.ts";
import { commitQuery } from "./queries.ts";

export function CommitPage() {
  const { name, commit } = useParams({ from: "/repositories/$name/commits/$commit" });
  return (
    <Loaded query={useQuery(commitQuery(name, commit))}>
      {(details) => (
        <>
          <CommitHeader name={name} details={details} />
          <CommitChanges details={details} />
        </>
      )}
    </Loaded>
  );
}

const CommitHeader = ({ name, details }: { name: string; details: CommitDetails }) => {
  const { commit, subject, message, author, authoredAt, parents } = details;
  const body = message.slice(subject.length).trim();
  return (
    <section className="card commit-card" aria-label="Commit">
      <h2>{subject || "No message"}</h2>
      {body !== "" && <p className="commit-body">{body}</p>}
      <p className="row-facts is-wrapping">
        <span className="fact" title={author.email}>
          {author.name || author.email}
        </span>
        <Moment at={authoredAt} />
        <code>{commit.slice(0, 12)}</code>
        {parents.map((parent) => (
          <span key={parent} className="fact">
            after{" "}
            <Link to="/repositories/$name/commits/$commit" params={{ name, commit: parent }}>
              <code>{parent.slice(0, 12)}</code>
            </Link>
          </span>
        ))}
        <Link className="fact" to="/repositories/$name" params={{ name }} search={{ ref: commit }}>
          <Icon name="folder" size={14} /> Files at this commit
        </Link>
      </p>
    </section>
  );
};

function CommitChanges({ details: { patch, truncated, patchBytes, commit } }: { details: CommitDetails }) {
  const [mode, setMode] = useDiffMode();
  const files = useMemo(() => readPatch(patch), [patch]);
  if (files.length === 0) return <Empty icon="check" title="Nothing is changed" />;
  const sum = (kind: "added" | "removed") => files.reduce((total, file) => total + file[kind], 0);
  return (
    <div className="changes">
      <div className="changes-bar">
        <DiffModeSwitch mode={mode} onChange={setMode} />
        <span className="soft">
          {files.length} {files.length === 1 ? "file" : "files"}{" "}
          <LineCount added={sum("added")} removed={sum("removed")} />
        </span>
      </div>
      {files.map((file) => (
        <FileDiff key={file.path} file={file} mode={mode} />
      ))}
      {truncated && (
        <Notice tone="busy">
          The patch has {fileSize(patchBytes)}; only its beginning is shown. Clone the repository and run{" "}
          <code>git show {commit.slice(0, 12)}</code> to see all of it.
        </Notice>
      )}
    </div>
  );
}
