// What agents have used.
export { addUsageRoute } from "./routes.ts";
