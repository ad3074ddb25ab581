// What a run is driven with.
export { type ChosenModel, chooseModel } from "./model.ts";
export { movedHooks } from "./moved-hooks.ts";
export { type Equipment, openEquipment } from "./open.ts";
export { openSandboxes, type Sandboxes } from "./place.ts";
export { probeForAgents } from "./probe.ts";
export { type Intent, intentOf, turnSettings } from "./turn.ts";
