// Every component in every state, to look at.
import type { RunStatus } from "@agentcli/protocol/api";
import type { ReactNode } from "react";
import { TranscriptItem } from "../agents/item.tsx";
import { AgentRow } from "../agents/row.tsx";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button, Check, Field, IconButton, Keys, Select, Spinner } from "../components/controls.tsx";
import { FileDiff } from "../components/diff.tsx";
import { Empty, Notice, Skeleton } from "../components/feedback.tsx";
import { Markdown } from "../components/markdown.tsx";
import { Output } from "../components/output.tsx";
import { PullLink } from "../components/pull.tsx";
import { StatusBadge } from "../components/status.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { readPatch } from "../text/patch.ts";
import { sampleAgent, sampleItems, sampleMarkdown, sampleOutput, samplePatch } from "./samples.ts";

const statuses: RunStatus[] = ["CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "EXPIRED"];
const colours = [
  "bg",
  "bg-side",
  "bg-raised",
  "bg-sunken",
  "line",
  "ink",
  "ink-2",
  "ink-3",
  "accent",
  "good",
  "bad",
  "busy",
  "info",
  "merged",
];

export const DesignPage = () => (
  <div className="page page-design">
    <header className="page-header">
      <h1>Design</h1>
    </header>
    <Part title="Colours">
      {colours.map((name) => (
        <span key={name} className="swatch">
          <span className={`swatch-colour swatch-${name}`} />
          {name}
        </span>
      ))}
    </Part>
    <Part title="Buttons">
      <Button look="primary">Primary</Button>
      <Button>Plain</Button>
      <Button look="quiet">Quiet</Button>
      <Button look="danger">Danger</Button>
      <Button isBusy>Busy</Button>
      <Button disabled>Disabled</Button>
      <IconButton icon="archive" label="Archive" />
      <Keys>Ctrl K</Keys>
      <Spinner />
    </Part>
    <Part title="Fields">
      <Field label="Name" hint="A hint">
        <input className="input" defaultValue="Text" />
      </Field>
      <Field label="Choice">
        <Select>
          <option>One</option>
        </Select>
      </Field>
      <Check label="Option" checked onChange={() => {}} />
    </Part>
    <Part title="Statuses">
      {statuses.map((status) => (
        <StatusBadge key={status} status={status} />
      ))}
      {(["draft", "open", "merged", "closed"] as const).map((state, index) => (
        <PullLink key={state} pull={{ url: "https://git.example.com/1", number: index + 1, state }} />
      ))}
    </Part>
    <Part title="Questions and tables" isColumn>
      <div>
        <ConfirmButton label="Remove" title="Remove it?" onConfirm={() => {}}>
          <p>This cannot be undone.</p>
        </ConfirmButton>
      </div>
      <table className="table">
        <TableHead columns={["Name", "Since"]} hasActions />
        <tbody>
          <tr>
            <td data-label="Name">A name</td>
            <td data-label="Since">
              <Moment at="2026-01-02T03:04:05Z" />
            </td>
            <td className="table-actions">
              <Button look="quiet">Change</Button>
            </td>
          </tr>
        </tbody>
      </table>
    </Part>
    <Samples />
  </div>
);

const Samples = () => (
  <>
    <Part title="Feedback" isColumn>
      <Notice>For your information.</Notice>
      <Notice tone="good">It worked.</Notice>
      <Notice tone="busy">Look at this.</Notice>
      <Notice tone="bad">It failed. Do this next.</Notice>
      <Skeleton />
      <Empty icon="agents" title="Nothing here" />
    </Part>
    <Part title="Agents" isColumn>
      <ul className="rows">
        {statuses.map((status) => (
          <AgentRow key={status} agent={sampleAgent(status)} />
        ))}
      </ul>
    </Part>
    <Part title="Transcript" isColumn>
      {sampleItems.map((item) => (
        <TranscriptItem key={item.key} item={item} />
      ))}
    </Part>
    <Part title="Text" isColumn>
      <Markdown text={sampleMarkdown} />
      <Output text={sampleOutput} />
    </Part>
    <Part title="Changes" isColumn>
      {readPatch(samplePatch).map((file) => (
        <FileDiff key={file.path} file={file} mode="split" isViewed={false} onViewed={() => {}} />
      ))}
    </Part>
  </>
);

const Part = ({ title, isColumn = false, children }: { title: string; isColumn?: boolean; children: ReactNode }) => (
  <section className="part">
    <h2>{title}</h2>
    <div className={isColumn ? "part-column" : "part-row"}>{children}</div>
  </section>
);
