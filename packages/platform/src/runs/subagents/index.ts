// The sub-agents of a run: their tree, and what each of them did.
export { addSubagentRoutes } from "./routes.ts";
