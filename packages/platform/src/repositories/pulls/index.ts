// Pull requests of the embedded git host in the API.
export { addPullRequestRoutes } from "./routes.ts";
