export * from "./builders.ts";
export * from "./eventually.ts";
export * from "./git-backend.ts";
export * from "./json-lines.ts";
export * from "./model-server/server.ts";
export * from "./script.ts";
export * from "./temporary.ts";
