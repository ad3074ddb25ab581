// Changes of files: unified or side by side, with line numbers. Everything in a patch is text.
import { Fragment, memo, type ReactNode, useState } from "react";
import type { Hunk, PatchFile, PatchLine } from "../text/patch.ts";
import { Button } from "./controls.tsx";
import { Icon } from "./icon.tsx";
import { LineCount } from "./line-count.tsx";

export type DiffMode = "unified" | "split";

const maxOpenLines = 400;

/** Comments on lines. */
export interface LineNotes {
  /** What is shown below a line; null for nothing. */
  below(line: PatchLine): ReactNode;
  takes(line: PatchLine): boolean;
  add(line: PatchLine): void;
}

export interface FileDiffProps {
  file: PatchFile;
  mode: DiffMode;
  /** Absent where lines take no comments. */
  notes?: LineNotes | undefined;
  isViewed?: boolean;
  /** Absent where no marks are kept. */
  onViewed?(isViewed: boolean): void;
}

export const FileDiff = memo(({ file, mode, notes, isViewed = false, onViewed }: FileDiffProps) => {
  const lines = file.hunks.reduce((total, hunk) => total + hunk.lines.length, 0);
  const [isOpen, setOpen] = useState(lines <= maxOpenLines && !isViewed);
  // Also where the mark goes because the file has changed, or comes from another tab.
  const [wasViewed, setWasViewed] = useState(isViewed);
  if (wasViewed !== isViewed) {
    setWasViewed(isViewed);
    setOpen(lines <= maxOpenLines && !isViewed);
  }
  return (
    // No landmark: there may be hundreds, and names that differ in case only are one name there.
    <article className="file" id={`file-${file.path}`} aria-label={file.path}>
      <header className="file-header">
        <button
          type="button"
          className="file-toggle"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Collapse" : "Expand"} ${file.path}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" />
        </button>
        <code className="file-path">
          {file.from !== null && <span className="file-from">{file.from} → </span>}
          {file.path}
        </code>
        {file.change !== "changed" && <span className="tag">{file.change}</span>}
        <LineCount added={file.added} removed={file.removed} />
        {onViewed && (
          <label className="check file-viewed">
            <input type="checkbox" checked={isViewed} onChange={(event) => onViewed(event.target.checked)} />
            Viewed
          </label>
        )}
      </header>
      {isOpen && <FileBody file={file} mode={mode} notes={notes} />}
      {!isOpen && lines > maxOpenLines && !isViewed && (
        <p className="file-large">
          {lines} lines. <Button onClick={() => setOpen(true)}>Show</Button>
        </p>
      )}
    </article>
  );
});

function FileBody({ file, mode, notes }: Pick<FileDiffProps, "file" | "mode" | "notes">) {
  if (file.isBinary) return <p className="file-note">A binary file.</p>;
  if (file.hunks.length === 0) return <p className="file-note">No line is changed.</p>;
  return <Hunks hunks={file.hunks} mode={mode} notes={notes} />;
}

export interface HunksProps {
  hunks: Hunk[];
  mode: DiffMode;
  notes?: LineNotes | undefined;
}

export function Hunks({ hunks, mode, notes }: HunksProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in.
    <div className="diff-scroll" tabIndex={0}>
      <table className={`diff diff-${mode}`}>
        {hunks.map((hunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks have no identity but their position.
          <tbody key={index}>
            {(index > 0 || hunk.head !== "") && (
              <tr className="diff-head">
                <td colSpan={mode === "split" ? 4 : 3}>{hunk.head || "…"}</td>
              </tr>
            )}
            {mode === "split" ? (
              <SplitLines lines={hunk.lines} notes={notes} />
            ) : (
              <UnifiedLines lines={hunk.lines} notes={notes} />
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const signs = { same: " ", add: "+", remove: "-", note: " " } as const;

interface LinesProps {
  lines: PatchLine[];
  notes: LineNotes | undefined;
}

const UnifiedLines = ({ lines, notes }: LinesProps) =>
  lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their position.
    <Fragment key={index}>
      <tr className={`diff-${line.kind}`}>
        <td className="diff-number">{line.before}</td>
        <td className="diff-number">
          {line.after}
          <AddNote line={line} notes={notes} />
        </td>
        <td className="diff-text">
          <span className="diff-sign">{signs[line.kind]}</span>
          {line.text}
        </td>
      </tr>
      <NotesRow columns={3}>{notes?.below(line)}</NotesRow>
    </Fragment>
  ));

const SplitLines = ({ lines, notes }: LinesProps) =>
  pairs(lines).map(([left, right], index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their position.
    <Fragment key={index}>
      <tr>
        <SplitSide line={left} number={left?.before ?? null} notes={left?.kind === "remove" ? notes : undefined} />
        <SplitSide line={right} number={right?.after ?? null} notes={notes} />
      </tr>
      <NotesRow columns={4}>{left?.kind === "remove" && notes?.below(left)}</NotesRow>
      <NotesRow columns={4}>{right && notes?.below(right)}</NotesRow>
    </Fragment>
  ));

interface SplitSideProps {
  line: PatchLine | null;
  number: number | null;
  notes: LineNotes | undefined;
}

const SplitSide = ({ line, number, notes }: SplitSideProps) => (
  <>
    <td className={`diff-number ${line ? `diff-${line.kind}` : "diff-none"}`}>
      {number}
      {line && <AddNote line={line} notes={notes} />}
    </td>
    <td className={`diff-text ${line ? `diff-${line.kind}` : "diff-none"}`}>{line?.text}</td>
  </>
);

const AddNote = ({ line, notes }: { line: PatchLine; notes: LineNotes | undefined }) =>
  notes?.takes(line) && (
    <button
      type="button"
      className="line-add"
      aria-label={`Comment on ${line.kind === "remove" ? "removed line" : "line"} ${line.after ?? line.before}`}
      onClick={() => notes.add(line)}
    >
      +
    </button>
  );

const NotesRow = ({ columns, children }: { columns: number; children: ReactNode }) =>
  children && (
    <tr className="diff-notes">
      <td colSpan={columns}>{children}</td>
    </tr>
  );

type Pair = [PatchLine | null, PatchLine | null];

/** Removed lines beside the added ones that follow them. */
function pairs(lines: PatchLine[]): Pair[] {
  const found: Pair[] = [];
  let open = 0;
  for (const line of lines) {
    if (line.kind === "remove") {
      found.push([line, null]);
      open += 1;
    } else if (line.kind === "add" && open > 0) {
      const pair = found[found.length - open];
      if (pair) pair[1] = line;
      open -= 1;
    } else {
      open = 0;
      found.push(line.kind === "add" ? [null, line] : [line, line]);
    }
  }
  return found;
}
