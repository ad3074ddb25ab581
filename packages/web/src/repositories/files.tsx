// Files of a repository at a branch or commit: folders with what they say of themselves, and texts with their lines.
import type {
  RepositoryContent,
  RepositoryFile,
  RepositoryFolder,
  RepositoryFolderEntry,
} from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { Empty, Notice } from "../components/feedback.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { Markdown } from "../components/markdown.tsx";
import { Loaded } from "../components/page.tsx";
import { fileSize } from "../text/format.ts";
import { CodeView } from "./code.tsx";
import { joinPath, resolveLink } from "./links.ts";
import { contentQuery, repositoryQuery } from "./queries.ts";
import type { RepositoryView } from "./view.ts";
import { ViewBar } from "./view-bar.tsx";

export function FilesPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const view = useSearch({ from: "/repositories/$name/" });
  const { data: repository } = useQuery(repositoryQuery(name));
  if (!repository) return null;
  if (repository.branches.length === 0) return <EmptyRepository url={repository.url} />;
  return (
    <>
      <ViewBar repository={repository} view={view} to="/repositories/$name">
        <Link className="button button-quiet" to="/repositories/$name/commits" params={{ name }} search={view}>
          <Icon name="clock" /> History
        </Link>
      </ViewBar>
      <Content name={name} view={view} />
    </>
  );
}

const EmptyRepository = ({ url }: { url: string }) => (
  <Empty icon="repository" title="Nothing was pushed yet">
    <p>Push a branch with an API key as the password, or start an agent here: it begins with an empty folder.</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in. */}
    <pre className="code" tabIndex={0}>
      {`git remote add platform ${url}\ngit push platform main`}
    </pre>
  </Empty>
);

interface ContentProps {
  name: string;
  view: RepositoryView;
}

const Content = ({ name, view }: ContentProps) => (
  <Loaded query={useQuery(contentQuery(name, view))}>
    {(content: RepositoryContent) =>
      content.kind === "folder" ? (
        <Folder name={name} view={view} folder={content} />
      ) : (
        <File name={name} view={view} file={content} key={content.path} />
      )
    }
  </Loaded>
);

function Folder({ name, view, folder }: ContentProps & { folder: RepositoryFolder }) {
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  const readme = folder.entries.find(
    (entry) => entry.kind === "file" && /^readme(?:\.(?:md|markdown))?$/i.test(entry.name),
  );
  return (
    <>
      <ul className="rows listing" ref={list}>
        {folder.entries.map((entry) => (
          <EntryRow key={entry.name} name={name} view={view} entry={entry} />
        ))}
      </ul>
      {folder.truncated && (
        <Notice>Only the first {folder.entries.length} entries are shown. Clone it to see all.</Notice>
      )}
      {readme && <Readme name={name} view={{ ...view, path: joinPath(view.path, readme.name) }} />}
    </>
  );
}

const entryIcons: Record<RepositoryFolderEntry["kind"], IconName> = {
  folder: "folder",
  file: "file",
  link: "link",
  repository: "repository",
};

const EntryRow = ({ name, view, entry }: ContentProps & { entry: RepositoryFolderEntry }) => (
  <li className="row" data-entry={entry.name}>
    <span className={`entry-${entry.kind}`}>
      <Icon name={entryIcons[entry.kind]} />
    </span>
    {entry.kind === "repository" ? (
      <span className="row-main">{entry.name}</span>
    ) : (
      <div className="row-main">
        <Link
          className="row-name"
          to="/repositories/$name"
          params={{ name }}
          search={{ ...view, path: joinPath(view.path, entry.name) }}
          data-row
        >
          {entry.name}
          {entry.kind === "folder" && <span className="sr-only">, a folder</span>}
        </Link>
      </div>
    )}
    <span className="row-end soft numeric">
      {entry.sizeBytes !== undefined && fileSize(entry.sizeBytes)}
      {entry.kind === "repository" && "Submodule"}
    </span>
  </li>
);

function Readme({ name, view }: ContentProps) {
  const { data } = useQuery(contentQuery(name, view));
  if (data?.kind !== "file" || data.text === undefined) return null;
  return (
    <section className="file readme" aria-label={data.path}>
      <header className="file-header file-plain">
        <Icon name="book" />
        <h2 className="file-path">{data.path.split("/").at(-1)}</h2>
      </header>
      <div className="file-rendered">
        <Markdown text={data.text} resolve={(href) => resolveLink(href, { name, ...view })} />
      </div>
    </section>
  );
}

function File({ name, view, file }: ContentProps & { file: RepositoryFile }) {
  const { path, text, sizeBytes } = file;
  const isMarkdown = /\.(?:md|markdown)$/i.test(path);
  const [isSource, setSource] = useState(!isMarkdown);
  if (text === undefined)
    return (
      <Empty icon="file" title="Not shown here">
        <p>{fileSize(sizeBytes)}, binary or too large to read in a page. Clone the repository to open it.</p>
      </Empty>
    );
  return (
    <article className="file" aria-label={path}>
      <header className="file-header file-plain">
        <h2 className="sr-only">{path.split("/").at(-1)}</h2>
        <span className="soft numeric">
          {countLines(text)} · {fileSize(sizeBytes)}
        </span>
        {isMarkdown && (
          <button
            type="button"
            className="toggle file-source"
            aria-pressed={isSource}
            onClick={() => setSource(!isSource)}
          >
            Source
          </button>
        )}
      </header>
      {isSource ? (
        <CodeView text={text} path={path} />
      ) : (
        <div className="file-rendered">
          <Markdown text={text} resolve={(href) => resolveLink(href, { name, ...view })} />
        </div>
      )}
    </article>
  );
}

const countLines = (text: string): string => {
  const count = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return count === 1 ? "1 line" : `${count} lines`;
};
