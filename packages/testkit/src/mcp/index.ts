// MCP servers for tests: over standard streams, over HTTP, and behind a login.
export * from "./guarded-server.ts";
export * from "./http-server.ts";
export * from "./stdio-server.ts";
