// The pages and their addresses. Each page but the list of agents is loaded when it is opened.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readChangesView } from "./agents/changes-view.ts";
import { readEventFilter } from "./agents/event-filter.ts";
import { readFilter } from "./agents/filter.ts";
import { readGiven } from "./agents/given.ts";
import { AgentsPage } from "./agents/list.tsx";
import { readComparedAgents } from "./compare/filter.ts";
import { Failure } from "./components/feedback.tsx";
import { readComparedBuilds } from "./environments/queries.ts";
import { readReferenceView } from "./reference/view.ts";
import { readView } from "./repositories/view.ts";
import { MissingPage } from "./shell/missing.tsx";
import { Shell } from "./shell/shell.tsx";
import { readUsageFilter } from "./usage/filter.ts";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: MissingPage,
  errorComponent: ({ error }) => <Failure error={error} />,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/agents" });
  },
});

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: readFilter,
  component: AgentsPage,
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: readComparedAgents,
  component: lazyRouteComponent(() => import("./compare/page.tsx"), "ComparePage"),
});

const newAgent = createRoute({
  getParentRoute: () => root,
  path: "/agents/new",
  validateSearch: readGiven,
  component: lazyRouteComponent(() => import("./agents/new.tsx"), "NewAgentPage"),
});

const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$id",
  component: lazyRouteComponent(() => import("./agents/agent.tsx"), "AgentPage"),
});

const conversation = createRoute({
  getParentRoute: () => agent,
  path: "/",
  validateSearch: ({ fork }: Record<string, unknown>): { fork?: string } => (typeof fork === "string" ? { fork } : {}),
  component: lazyRouteComponent(() => import("./agents/conversation.tsx"), "ConversationTab"),
});

const changes = createRoute({
  getParentRoute: () => agent,
  path: "/changes",
  validateSearch: readChangesView,
  component: lazyRouteComponent(() => import("./agents/changes.tsx"), "ChangesTab"),
});

const files = createRoute({
  getParentRoute: () => agent,
  path: "/files",
  component: lazyRouteComponent(() => import("./agents/files.tsx"), "FilesTab"),
});

const agentUsage = createRoute({
  getParentRoute: () => agent,
  path: "/usage",
  component: lazyRouteComponent(() => import("./agents/usage-tab.tsx"), "UsageTab"),
});

const waits = createRoute({
  getParentRoute: () => agent,
  path: "/waits",
  component: lazyRouteComponent(() => import("./agents/waits-tab.tsx"), "WaitsTab"),
});

const events = createRoute({
  getParentRoute: () => agent,
  path: "/events",
  validateSearch: readEventFilter,
  component: lazyRouteComponent(() => import("./agents/events-tab.tsx"), "EventsTab"),
});

const machine = createRoute({
  getParentRoute: () => agent,
  path: "/machine",
  component: lazyRouteComponent(() => import("./agents/machine-tab.tsx"), "MachineTab"),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  component: lazyRouteComponent(() => import("./inbox/page.tsx"), "InboxPage"),
});

const automations = createRoute({
  getParentRoute: () => root,
  path: "/automations",
  component: lazyRouteComponent(() => import("./automations/list.tsx"), "AutomationsPage"),
});

const automation = createRoute({
  getParentRoute: () => root,
  path: "/automations/$id",
  component: lazyRouteComponent(() => import("./automations/detail.tsx"), "AutomationPage"),
});

const environments = createRoute({
  getParentRoute: () => root,
  path: "/environments",
  component: lazyRouteComponent(() => import("./environments/list.tsx"), "EnvironmentsPage"),
});

const environment = createRoute({
  getParentRoute: () => root,
  path: "/environments/$id",
  component: lazyRouteComponent(() => import("./environments/detail.tsx"), "EnvironmentPage"),
});

const build = createRoute({
  getParentRoute: () => root,
  path: "/environments/$id/builds/$build",
  component: lazyRouteComponent(() => import("./environments/build.tsx"), "BuildPage"),
});

const buildDiff = createRoute({
  getParentRoute: () => root,
  path: "/environments/$id/diff",
  validateSearch: readComparedBuilds,
  component: lazyRouteComponent(() => import("./environments/diff.tsx"), "BuildDiffPage"),
});

const apiReference = createRoute({
  getParentRoute: () => root,
  path: "/api-reference",
  validateSearch: readReferenceView,
  component: lazyRouteComponent(() => import("./reference/page.tsx"), "ReferencePage"),
});

const secrets = createRoute({
  getParentRoute: () => root,
  path: "/secrets",
  component: lazyRouteComponent(() => import("./secrets/page.tsx"), "SecretsPage"),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  validateSearch: readUsageFilter,
  component: lazyRouteComponent(() => import("./usage/page.tsx"), "UsagePage"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: ({ action }: Record<string, unknown>): { action?: string } =>
    typeof action === "string" ? { action } : {},
  component: lazyRouteComponent(() => import("./audit/page.tsx"), "AuditPage"),
});

const members = createRoute({
  getParentRoute: () => root,
  path: "/members",
  component: lazyRouteComponent(() => import("./members/page.tsx"), "MembersPage"),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  component: lazyRouteComponent(() => import("./keys/page.tsx"), "KeysPage"),
});

const serviceAccounts = createRoute({
  getParentRoute: () => root,
  path: "/service-accounts",
  component: lazyRouteComponent(() => import("./keys/service-accounts.tsx"), "ServiceAccountsPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings/page.tsx"), "SettingsPage"),
});

const repositories = createRoute({
  getParentRoute: () => root,
  path: "/repositories",
  component: lazyRouteComponent(() => import("./repositories/page.tsx"), "RepositoriesPage"),
});

const repository = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name",
  component: lazyRouteComponent(() => import("./repositories/repository.tsx"), "RepositoryPage"),
});

const repositoryFiles = createRoute({
  getParentRoute: () => repository,
  path: "/",
  validateSearch: readView,
  component: lazyRouteComponent(() => import("./repositories/files.tsx"), "FilesPage"),
});

const commits = createRoute({
  getParentRoute: () => repository,
  path: "/commits",
  validateSearch: readView,
  component: lazyRouteComponent(() => import("./repositories/commits.tsx"), "CommitsPage"),
});

const commit = createRoute({
  getParentRoute: () => repository,
  path: "/commits/$commit",
  component: lazyRouteComponent(() => import("./repositories/commit.tsx"), "CommitPage"),
});

const pulls = createRoute({
  getParentRoute: () => repository,
  path: "/pulls",
  component: lazyRouteComponent(() => import("./pulls/list.tsx"), "PullsPage"),
});

const pull = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name/pulls/$number",
  component: lazyRouteComponent(() => import("./pulls/page.tsx"), "PullPage"),
});

const accounts = createRoute({
  getParentRoute: () => root,
  path: "/accounts",
  component: lazyRouteComponent(() => import("./accounts/page.tsx"), "AccountsPage"),
});

const sessions = createRoute({
  getParentRoute: () => root,
  path: "/sessions",
  component: lazyRouteComponent(() => import("./sessions/page.tsx"), "SessionsPage"),
});

const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  component: lazyRouteComponent(() => import("./workers/page.tsx"), "WorkersPage"),
});

const design = createRoute({
  getParentRoute: () => root,
  path: "/design",
  component: lazyRouteComponent(() => import("./design/page.tsx"), "DesignPage"),
});

const tree = root.addChildren([
  home,
  agents,
  newAgent,
  compare,
  agent.addChildren([conversation, changes, files, waits, events, agentUsage, machine]),
  inbox,
  automations,
  automation,
  environments,
  environment,
  build,
  buildDiff,
  apiReference,
  secrets,
  usage,
  audit,
  members,
  keys,
  serviceAccounts,
  settings,
  repositories,
  repository.addChildren([repositoryFiles, commits, commit, pulls]),
  pull,
  accounts,
  sessions,
  workers,
  design,
]);

export const createAppRouter = () => createRouter({ routeTree: tree, scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
