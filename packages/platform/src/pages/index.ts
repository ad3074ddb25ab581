// HTML pages for users, until the web app exists.
export { openPages } from "./routes.ts";
export { loginLink } from "./session.ts";
