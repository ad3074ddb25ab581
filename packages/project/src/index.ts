export { type LoadedConfig, loadConfig } from "./config/load.ts";
export { ConfigProblem } from "./config/problem.ts";
