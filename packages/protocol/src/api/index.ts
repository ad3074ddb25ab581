// What the platform's HTTP API takes and answers. A subpath of its own: names such as Run mean a resource here.
export * from "./catalogue.ts";
export * from "./problem.ts";
