// Pages for people, until the web app.
export { addPages } from "./routes.ts";
export { loginLink } from "./session.ts";
