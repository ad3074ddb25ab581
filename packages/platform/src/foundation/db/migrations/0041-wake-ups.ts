// Wake-ups of agents: whom they act for, what caused them, and what they may cost; and the branches that automations made.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql.raw(branches).execute(db);
}

const tables = `
  alter table subscriptions add column acts_as text;
  alter table subscriptions add column wake_ups integer not null default 0;
  alter table subscriptions add column skipped_at timestamptz;
  alter table subscriptions add column skipped_reason text;
  alter table subscription_events add column causes jsonb not null default '[]';
  create index subscription_events_delivered on subscription_events (created_at) where run_id is not null;
  create index subscriptions_ended on subscriptions (created_at) where status <> 'active';
  alter table automation_firings add column causes jsonb;
  create table wake_ups (
    id text primary key,
    agent_id text not null references agents on delete cascade,
    automation_id text references automations on delete cascade,
    acts_as text,
    causes jsonb not null,
    created_at timestamptz not null,
    retry_at timestamptz,
    admitted_at timestamptz,
    reserved_usd numeric
  );
  create index wake_ups_of_automations on wake_ups (automation_id, admitted_at) where automation_id is not null;
  create index wake_ups_by_age on wake_ups (created_at);
`;

/** They outlive the firings and the agents: an automation never approves what it made itself, however long ago. */
const branches = `
  create table automation_branches (
    automation_id text not null references automations on delete cascade,
    repo_url text not null,
    branch text not null,
    pr_url text,
    primary key (automation_id, repo_url, branch)
  );
  create function note_automation_branch() returns trigger language plpgsql as $$
  begin
    insert into automation_branches (automation_id, repo_url, branch, pr_url)
    select firing.automation_id, new.repo_url, new.branch, new.pr_url
    from automation_firings as firing
    join automations on automations.id = firing.automation_id
    join agents on agents.id = firing.agent_id and agents.team_id = automations.team_id
    where firing.agent_id = new.agent_id
    on conflict (automation_id, repo_url, branch)
      do update set pr_url = coalesce(excluded.pr_url, automation_branches.pr_url);
    return null;
  end $$;
  create trigger note_automation_branch after insert or update of branch, pr_url on handoffs
    for each row execute function note_automation_branch();
  insert into automation_branches (automation_id, repo_url, branch, pr_url)
  select firing.automation_id, handoffs.repo_url, handoffs.branch, handoffs.pr_url
  from handoffs join automation_firings as firing on firing.agent_id = handoffs.agent_id
  on conflict do nothing;
`;
