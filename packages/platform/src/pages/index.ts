// The pages: login, the web app, and pages that the server renders.
export { openPages } from "./routes.ts";
export { loginLink } from "./session.ts";
