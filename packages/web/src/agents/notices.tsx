// What happened around the work: hooks that ran, connections that were blocked, MCP servers that are missing, warnings.
import { Icon } from "../components/icon.tsx";
import type { Item } from "../stream/transcript.ts";
import { duration } from "../text/format.ts";
import { Step } from "./step.tsx";

type Of<Kind extends Item["kind"]> = Extract<Item, { kind: Kind }>;

/** The key of a hook is its file, its event and its position there. */
const fileOf = (hook: string): string => hook.replace(/:[a-z_]+:\d+:\d+$/, "");

/** Most take milliseconds. */
const took = (ms: number): string => (ms < 1_000 ? `${ms} ms` : duration(ms));

export function Hook({
  item: { event, hook, outcome, durationMs, isInSubagent, status, problem },
}: {
  item: Of<"hook">;
}) {
  const title = (
    <>
      Hook <code>{event}</code>
      {isInSubagent && " in a sub-agent"}
      <span className={status === "error" ? "bad" : "soft"}> · {outcome}</span>
      {durationMs !== undefined && <span className="soft"> · {took(durationMs)}</span>}
    </>
  );
  return (
    <Step icon="hook" title={title} status={status} startsOpen={status === "error"}>
      {problem !== undefined && <p className="bad problem-text">{problem}</p>}
      <p className="run-note">
        From <code>{fileOf(hook)}</code>
      </p>
    </Step>
  );
}

export function Blocked({ item: { host, text } }: { item: Of<"blocked"> }) {
  const title = (
    <>
      Connection to <code>{host}</code> <span className="bad">· blocked</span>
    </>
  );
  return (
    <Step icon="blocked" title={title} status="error" startsOpen>
      <p className="problem-text">{text}</p>
    </Step>
  );
}

export function MissingServer({ item: { name, text } }: { item: Of<"server"> }) {
  const title = (
    <>
      MCP server <strong>{name}</strong> <span className="bad">· not available</span>
    </>
  );
  return (
    <Step icon="tool" title={title} status="error" startsOpen>
      <p className="problem-text">{text}</p>
    </Step>
  );
}

export const Warning = ({ text }: { text: string }) => (
  <p className="run-warning">
    <Icon name="warning" size={14} />
    <span>
      <span className="sr-only">Warning: </span>
      {text}
    </span>
  </p>
);
