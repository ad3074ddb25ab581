// Agents as people look at them.
export { describeAgents, type OverviewHost, readDetails, readOverview } from "./read.ts";
export { addOverviewRoutes } from "./routes.ts";
