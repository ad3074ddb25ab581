export * from "./catalog.ts";
export * from "./open.ts";
export * from "./prices.ts";
export * from "./provider.ts";
