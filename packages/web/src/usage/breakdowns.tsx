// Tables of usage by what it was for: models, people, agents, repositories, automations and tags.
import type { Spending, SpendingDay, SpendingEntry, SpendingTag } from "@agentcli/protocol/api";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { money, repositoryName } from "../text/format.ts";
import { amount } from "./amount.ts";
import { ShareBar } from "./chart.tsx";
import type { Measure } from "./measure.ts";

export interface BreakdownsProps {
  spending: Spending;
  measure: Measure;
}

export const Breakdowns = ({ spending, measure }: BreakdownsProps) => {
  const { models, people, agents, repositories, automations, tags } = spending;
  const uncounted = uncountedNote(spending);
  return (
    <>
      <Breakdown title="Models" rows={models.map(plainRow)} measure={measure} />
      {spending.of === "team" && <Breakdown title="People" rows={people.map(plainRow)} measure={measure} />}
      <Breakdown title="Agents" rows={agents.map(agentRow)} measure={measure} />
      {repositories.length > 0 && (
        <Breakdown title="Repositories" rows={repositories.map(repositoryRow)} measure={measure} note={uncounted} />
      )}
      {automations.length > 0 && (
        <Breakdown title="Automations" rows={automations.map(automationRow)} measure={measure} note={uncounted} />
      )}
      {tags.length > 0 && (
        <Breakdown
          title="Tags"
          rows={[...tags.map(tagRow), ...untaggedRows(spending)]}
          measure={measure}
          note={[manyTagsNote(spending), uncounted].filter(Boolean).join(" ")}
        />
      )}
    </>
  );
};

/** Nothing that is shown is the whole of it where agents are missing from the sums. */
const uncountedNote = ({ uncounted: { runs, costCents } }: Spending): string =>
  runs === 0
    ? ""
    : `Without ${amount(runs)} ${runs === 1 ? "run" : "runs"} (${money(costCents)}) of agents beyond the 500 that cost most, or that you may not read.`;

const manyTagsNote = ({ otherTags }: Spending): string =>
  `An agent with several tags counts for each.${otherTags === 0 ? "" : ` ${amount(otherTags)} more ${otherTags === 1 ? "tag that costs" : "tags that cost"} less.`}`;

type Amounts = Omit<SpendingDay, "day">;

interface BreakdownRow {
  key: string;
  label: ReactNode;
  amounts: Amounts;
}

const plainRow = ({ id, name, ...amounts }: SpendingEntry): BreakdownRow => ({ key: id, label: name, amounts });

const agentRow = ({ id, name, ...amounts }: SpendingEntry): BreakdownRow => ({
  key: id,
  label: (
    <Link to="/agents/$id" params={{ id }}>
      {name}
    </Link>
  ),
  amounts,
});

const automationRow = ({ id, name, ...amounts }: SpendingEntry): BreakdownRow => ({
  key: id,
  label: (
    <Link to="/automations/$id" params={{ id }}>
      {name}
    </Link>
  ),
  amounts,
});

const repositoryRow = ({ id, name, ...amounts }: SpendingEntry): BreakdownRow => ({
  key: id,
  label: <span title={name}>{repositoryName(name)}</span>,
  amounts,
});

const tagRow = ({ key, value, ...amounts }: SpendingTag): BreakdownRow => ({
  key: JSON.stringify([key, value]),
  label: (
    <span className="usage-tag" title={`${key}: ${value}`}>
      <span className="soft">{key}:</span> {value}
    </span>
  ),
  amounts,
});

const untaggedRows = ({ untagged }: Spending): BreakdownRow[] =>
  untagged.runs + untagged.calls === 0
    ? []
    : [{ key: "untagged", label: <span className="soft">Without a tag</span>, amounts: untagged }];

interface BreakdownProps {
  title: string;
  rows: BreakdownRow[];
  measure: Measure;
  note?: string;
}

const Breakdown = ({ title, rows, measure, note = "" }: BreakdownProps) => {
  const max = Math.max(...rows.map(({ amounts }) => measure.of(amounts)), 0);
  return (
    <section className="section" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p className="soft">Nothing in this period.</p>}
      {rows.length > 0 && (
        <table className="table usage-table">
          <thead>
            <tr>
              <th>Name</th>
              <th className="number">Runs</th>
              <th className="number">Calls</th>
              <th className="number">Tokens</th>
              <th className="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, label, amounts }) => (
              <Row key={key} label={label} amounts={amounts} part={max === 0 ? 0 : measure.of(amounts) / max} />
            ))}
          </tbody>
        </table>
      )}
      {note !== "" && <p className="usage-note soft">{note}</p>}
    </section>
  );
};

interface RowProps extends Pick<BreakdownRow, "label" | "amounts"> {
  /** Of the highest one. */
  part: number;
}

const Row = ({ label, amounts: { runs, calls, tokens, costCents }, part }: RowProps) => (
  <tr>
    <td data-label="Name" className="table-name">
      {label}
      <ShareBar part={part} />
    </td>
    <td data-label="Runs" className="number">
      {amount(runs)}
    </td>
    <td data-label="Calls" className="number">
      {amount(calls)}
    </td>
    <td data-label="Tokens" className="number">
      {amount(tokens)}
    </td>
    <td data-label="Cost" className="number">
      {money(costCents)}
    </td>
  </tr>
);
