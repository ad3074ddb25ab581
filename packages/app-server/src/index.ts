// The app server: other programs drive the agent. Its command line passes in the program and the agent.

export type { Agent, Credential } from "./program.ts";
export { serve } from "./serve.ts";
export { type InProcessServer, openInProcess } from "./transports/in-process.ts";
