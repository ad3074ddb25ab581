// The automations of the user and the team: what starts them, when they ran, when they run next.
import type { Automation } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { AutomationActions } from "./actions.tsx";
import { RefusedMentions } from "./mentions.tsx";
import { automationsQuery, scopeWords, triggerText } from "./queries.ts";

export function AutomationsPage() {
  const query = useQuery(automationsQuery);
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  return (
    <Page title="Automations">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="clock" title="No automations yet">
              <p>
                An automation starts an agent by a schedule, a webhook or an event of a source host. Create one with{" "}
                <code>POST /v1/automations</code>.
              </p>
              <Link className="button button-plain" to="/api-reference" search={{ q: "automations" }}>
                API
              </Link>
            </Empty>
          ) : (
            <ul className="rows" ref={list}>
              {items.map((automation) => (
                <AutomationRow key={automation.id} automation={automation} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <RefusedMentions />
    </Page>
  );
}

const AutomationRow = ({ automation }: { automation: Automation }) => {
  const { id, name, enabled, scope, triggers, nextFiringAt, lastRunAt } = automation;
  return (
    <li className="row" data-automation={id}>
      <EnabledMark enabled={enabled} />
      <div className="row-main">
        <Link className="row-name" to="/automations/$id" params={{ id }} data-row>
          {name}
        </Link>
        <span className="row-facts">
          <span>{enabled ? "Enabled" : "Disabled"}</span>
          <span>{scopeWords[scope]}</span>
          {triggers.map((trigger) => (
            <span key={trigger.id} className="fact">
              <Icon name={trigger.type === "cron" ? "clock" : "link"} size={14} />
              {triggerText(trigger)}
            </span>
          ))}
        </span>
      </div>
      <div className="row-end">
        {lastRunAt !== undefined && (
          <span>
            Last run <Moment at={lastRunAt} />
          </span>
        )}
        {nextFiringAt !== undefined && (
          <span>
            Next <Moment at={nextFiringAt} />
          </span>
        )}
        <AutomationActions automation={automation} />
      </div>
    </li>
  );
};

/** A full ring or a dashed one: they differ without colour. */
export const EnabledMark = ({ enabled }: { enabled: boolean }) => (
  <span className={enabled ? "mark mark-on" : "mark mark-off"} aria-hidden="true" />
);
