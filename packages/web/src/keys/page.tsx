// API keys: the visitor's own, and for administrators those of the other users of the team.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { session } from "../api/session.ts";
import { Empty, Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { KeyForm } from "./form.tsx";
import { keysQuery } from "./queries.ts";
import { type ShownKey, ShownKeyCard } from "./secret.tsx";
import { KeyTable } from "./table.tsx";
import { useKeyActions } from "./use-key-actions.ts";

export function KeysPage() {
  const query = useQuery(keysQuery);
  const [shown, setShown] = useState<ShownKey | null>(null);
  const actions = useKeyActions(setShown);
  return (
    <Page title="Keys" actions={session.isAdmin && <Link to="/service-accounts">Service accounts</Link>}>
      <p className="page-lead">
        Programs use the <Link to="/api-reference">API</Link> and git with a key, with your rights or fewer.
      </p>
      <KeyForm onCreated={setShown} />
      {shown !== null && <ShownKeyCard shown={shown} />}
      {actions.error !== null && <Failure error={actions.error} />}
      <Loaded query={query}>
        {({ items }) => {
          const own = items.filter(({ owner }) => owner.isCaller);
          const others = items.filter(({ owner }) => !owner.isCaller && owner.type === "user");
          return (
            <>
              <section className="section">
                <h2>Your keys</h2>
                {own.length === 0 ? (
                  <Empty icon="key" title="No keys yet" />
                ) : (
                  <KeyTable keys={own} actions={actions} />
                )}
              </section>
              {others.length > 0 && (
                <section className="section">
                  <h2>Keys of other members</h2>
                  <KeyTable keys={others} hasOwners actions={actions} />
                </section>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
