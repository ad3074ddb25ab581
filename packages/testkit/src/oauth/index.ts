// The token endpoint of an authorization server, for tests.
export * from "./token-server.ts";
