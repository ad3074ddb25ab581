// Requests that another server of the database must answer: sent there, and their answers sent back.
export { type Forwarding, openForwarding } from "./forwarding.ts";
export { addressFrom, reachableUrl } from "./reachable-url.ts";
