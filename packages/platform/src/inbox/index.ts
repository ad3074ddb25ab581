// What other groups may use of the inbox.
export { openInbox } from "./open.ts";
