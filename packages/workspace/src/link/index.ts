// Requests between a platform and a worker, over one connection.
export { type Answer, type Link, LinkError, type LinkOptions, type LinkRequest, openLink } from "./link.ts";
export { endAfterSilence, type Pingable } from "./silence.ts";
