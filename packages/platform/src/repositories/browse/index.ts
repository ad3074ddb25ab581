// Files and commits of repositories of the embedded git host in the API.
export { addBrowseRoutes } from "./routes.ts";
