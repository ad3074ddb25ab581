// One automation: what it does, and a record of each firing, also of those that did not start.
import type { Automation, AutomationAlert, Firing } from "@agentcli/protocol/api";
import { firingWords } from "@agentcli/protocol/outcomes";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { session } from "../api/session.ts";
import { Notice } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { StatusBadge } from "../components/status.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { repositoryName } from "../text/format.ts";
import { AutomationActions } from "./actions.tsx";
import { Proposals } from "./proposals.tsx";
import { automationQuery, scopeWords, sourceWords, triggerText } from "./queries.ts";

export function AutomationPage() {
  const { id } = useParams({ from: "/automations/$id" });
  const query = useQuery(automationQuery(id));
  const automation = query.data?.automation;
  return (
    <Page
      title={automation?.name ?? "Automation"}
      {...(automation && { actions: <AutomationActions automation={automation} /> })}
    >
      <Loaded query={query}>
        {(data) => (
          <>
            {!data.automation.enabled && (
              <Notice tone="busy">{reasonOf(data.automation)} It does not fire until it is enabled.</Notice>
            )}
            {data.automation.shadow && (
              <Notice tone="busy">It is in shadow mode: its runs propose only, and nothing is written.</Notice>
            )}
            <Facts automation={data.automation} />
            <Alerts alerts={data.alerts} />
            <Firings firings={data.firings} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const reasonOf = ({ disabledReason = "It is disabled." }: Automation): string =>
  disabledReason === `Disabled by ${session.email}.` ? "You disabled it." : disabledReason;

const Facts = ({
  automation: { description, prompt, triggers, scope, target, webhook },
}: {
  automation: Automation;
}) => (
  <section className="card">
    {description !== "" && <p>{description}</p>}
    <p className="prompt-text">{prompt.text}</p>
    <p className="row-facts is-wrapping">
      <span>{scopeWords[scope]}</span>
      {triggers.map((trigger) => (
        <span key={trigger.id} className="fact">
          <Icon name={trigger.type === "cron" ? "clock" : "link"} size={14} /> {triggerText(trigger)}
        </span>
      ))}
      {target.type === "repo" && (
        <span className="fact" title={target.repoUrl}>
          <Icon name="repository" size={14} /> {repositoryName(target.repoUrl)}
        </span>
      )}
      {target.type === "environment" && <span>Environment {target.name}</span>}
      {target.type !== "environment" && target.env && target.env.type !== "cloud" && (
        <span>
          On the {target.env.type} {target.env.name}
        </span>
      )}
      {webhook && (
        <span className="fact">
          <Icon name="link" size={14} /> <code>{webhook.url}</code>
        </span>
      )}
    </p>
  </section>
);

const Alerts = ({ alerts }: { alerts: AutomationAlert[] }) =>
  alerts.length > 0 && (
    <section className="section">
      <h2>Alerts</h2>
      <ul className="rows">
        {alerts.map(({ id, message, createdAt }) => (
          <li key={id} className="row">
            <span className="tone-bad">
              <Icon name="warning" />
            </span>
            <span className="row-main row-text">{message}</span>
            <span className="row-end">
              <Moment at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );

const Firings = ({ firings }: { firings: Firing[] }) => (
  <section className="section">
    <h2>Firings</h2>
    {firings.length === 0 && <p className="soft">It has not fired, and nothing is planned.</p>}
    {firings.length > 0 && (
      <table className="table is-top">
        <TableHead columns={["When", "By", "Result", "Agent"]} />
        <tbody>
          {firings.map((firing) => (
            <tr key={firing.id} data-firing={firing.status}>
              <td data-label="When">
                <Moment at={firing.plannedAt} />
              </td>
              <td data-label="By" className="table-short">
                {sourceWords[firing.source]}
              </td>
              <td data-label="Result">
                {firing.runStatus ? <StatusBadge status={firing.runStatus} /> : firingWords[firing.status]}
                {firing.reason !== undefined && <span className="soft"> {firing.reason}</span>}
                {firing.shadow && firing.runId !== undefined && <Proposals firing={firing} />}
              </td>
              <td data-label="Agent">
                {firing.agentId !== undefined && firing.runId !== undefined && (
                  <Link to="/agents/$id" params={{ id: firing.agentId }}>
                    Open
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);
