// One step of a run as people read it.
import { memo, useMemo } from "react";
import { Hunks } from "../components/diff.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { LineCount } from "../components/line-count.tsx";
import { Markdown } from "../components/markdown.tsx";
import { Output } from "../components/output.tsx";
import type { Item } from "../stream/transcript.ts";
import { duration } from "../text/format.ts";
import { readHunks } from "../text/patch.ts";
import { Blocked, Hook, MissingServer, Warning } from "./notices.tsx";
import { Step } from "./step.tsx";
import { Subagent, TaskCall } from "./subagent.tsx";

export const TranscriptItem = memo(({ item }: { item: Item }) => {
  switch (item.kind) {
    case "text":
      return <Markdown text={item.text} />;
    case "thinking":
      return <Thinking item={item} />;
    case "command":
      return <Command item={item} />;
    case "edit":
      return <Edit item={item} />;
    case "plan":
      return <Plan item={item} />;
    case "task":
      return item.action === "start" ? <Subagent item={item} /> : <TaskCall item={item} />;
    case "user":
      return <Added text={item.text} />;
    case "tool":
      return <Tool item={item} />;
    case "hook":
      return <Hook item={item} />;
    case "blocked":
      return <Blocked item={item} />;
    case "server":
      return <MissingServer item={item} />;
    case "warning":
      return <Warning text={item.text} />;
    case "note":
      return <p className="run-note">{item.text}</p>;
  }
});

const Added = ({ text }: { text: string }) => (
  <div className="prompt prompt-added">
    <p className="prompt-text">{text}</p>
    <span className="prompt-note">sent while it worked</span>
  </div>
);

type Of<Kind extends Item["kind"]> = Extract<Item, { kind: Kind }>;

function Thinking({ item: { text, durationMs } }: { item: Of<"thinking"> }) {
  const title = durationMs === undefined ? "Thinking" : `Thought for ${duration(durationMs)}`;
  return (
    <Step icon="brain" title={<span className="soft">{title}</span>} status="completed">
      <p className="thinking">{text}</p>
    </Step>
  );
}

/** A failed or running command is open: its output is what the reader looks for. */
function Command({ item }: { item: Of<"command"> }) {
  const { command, output, exitCode, durationMs, status, problem } = item;
  const isFailed = status === "error" || (exitCode !== undefined && exitCode !== 0);
  const title = (
    <>
      {status === "running" ? "Running" : "Ran"} <code className="command">{command}</code>
      {exitCode !== undefined && <span className={isFailed ? "bad" : "soft"}> · exit {exitCode}</span>}
      {durationMs !== undefined && <span className="soft"> · {duration(durationMs)}</span>}
    </>
  );
  return (
    <Step
      icon="terminal"
      title={title}
      status={isFailed ? "error" : status}
      startsOpen={status === "running" || isFailed}
    >
      {output.trim() !== "" ? <Output text={output} /> : <Problem text={problem} isRunning={status === "running"} />}
    </Step>
  );
}

const Problem = ({ text, isRunning = false }: { text: string | undefined; isRunning?: boolean }) =>
  text === undefined ? (
    <p className="run-note">{isRunning ? "No output so far." : "No output."}</p>
  ) : (
    <p className="bad problem-text">{text}</p>
  );

function Edit({ item: { path, diff, added, removed, status, problem } }: { item: Of<"edit"> }) {
  const hunks = useMemo(() => readHunks(diff.replace(/\n$/, "").split("\n")), [diff]);
  const lines = hunks.reduce((total, hunk) => total + hunk.lines.length, 0);
  const title = (
    <>
      {status === "running" ? "Editing" : "Edited"} <code>{path}</code> <LineCount added={added} removed={removed} />
    </>
  );
  return (
    <Step icon="edit" title={title} status={status} startsOpen={lines > 0 && lines <= 40}>
      {lines > 0 ? <Hunks hunks={hunks} mode="unified" /> : problem !== undefined && <Problem text={problem} />}
    </Step>
  );
}

const marks: Record<string, IconName> = { completed: "check", cancelled: "close" };

function Plan({ item: { todos, status } }: { item: Of<"plan"> }) {
  const done = todos.filter((todo) => todo.status === "completed").length;
  return (
    <Step icon="agents" title={`Plan · ${done} of ${todos.length} done`} status={status} startsOpen>
      <ul className="plan">
        {todos.map((todo) => (
          <li key={todo.content} className={`todo todo-${todo.status}`}>
            <span className="todo-mark">
              {marks[todo.status] && <Icon name={marks[todo.status] ?? "check"} size={12} />}
            </span>
            {todo.content}
          </li>
        ))}
      </ul>
    </Step>
  );
}

const verbs: Record<string, string> = { read: "Read", ls: "Listed", grep: "Searched for" };

function Tool({ item: { name, subject, result, status, problem } }: { item: Of<"tool"> }) {
  const title = (
    <>
      {verbs[name] ?? name} {subject !== "" && <code>{subject}</code>}
    </>
  );
  const text = problem ?? result;
  return (
    <Step
      icon={name === "read" || name === "ls" ? "file" : name === "grep" ? "search" : "tool"}
      title={title}
      status={status}
    >
      {text !== "" && <Output text={text} />}
    </Step>
  );
}
