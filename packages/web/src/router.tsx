// The pages and their addresses. Each page but the list of agents is loaded when it is opened.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { readFilter } from "./agents/filter.ts";
import { AgentsPage } from "./agents/list.tsx";
import { Failure } from "./components/feedback.tsx";
import { MissingPage } from "./shell/missing.tsx";
import { Shell } from "./shell/shell.tsx";

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

const newAgent = createRoute({
  getParentRoute: () => root,
  path: "/agents/new",
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
  component: lazyRouteComponent(() => import("./agents/conversation.tsx"), "ConversationTab"),
});

const changes = createRoute({
  getParentRoute: () => agent,
  path: "/changes",
  component: lazyRouteComponent(() => import("./agents/changes.tsx"), "ChangesTab"),
});

const files = createRoute({
  getParentRoute: () => agent,
  path: "/files",
  component: lazyRouteComponent(() => import("./agents/files.tsx"), "FilesTab"),
});

const design = createRoute({
  getParentRoute: () => root,
  path: "/design",
  component: lazyRouteComponent(() => import("./design/page.tsx"), "DesignPage"),
});

const tree = root.addChildren([home, agents, newAgent, agent.addChildren([conversation, changes, files]), design]);

export const createAppRouter = () => createRouter({ routeTree: tree, scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
