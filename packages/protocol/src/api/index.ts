// Requests and responses of the platform's HTTP API. A separate subpath, because names such as Run mean a resource here.
export * from "./agents.ts";
export * from "./artifacts.ts";
export * from "./catalogue.ts";
export * from "./common.ts";
export * from "./diff.ts";
export * from "./env-vars.ts";
export * from "./inference.ts";
export * from "./problem.ts";
export * from "./prompts.ts";
export * from "./runs.ts";
export * from "./servers.ts";
export * from "./stream.ts";
export * from "./subagents.ts";
export * from "./tool-calls.ts";
export * from "./usage.ts";
export * from "./v0.ts";
export * from "./webhooks.ts";
