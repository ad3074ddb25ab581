// Runs of a service: what the platform and the local part of the platform SDK share beyond `assemble`.
export { assembleService, type ServiceAssembly, type ServiceInstructions, type ServiceRequest } from "./assemble.ts";
export type { FoundHooks, ServiceHooks } from "./hooks.ts";
export { type ChosenModel, openChosenModel } from "./model.ts";
export { headerSecrets, variableSecrets } from "./secrets.ts";
export type { ServiceServer, ServiceServers } from "./servers.ts";
export { compactAtWindow, effortOf, serviceSettings } from "./settings.ts";
export { type ServiceTurn, serviceTurnRecords } from "./turn.ts";
