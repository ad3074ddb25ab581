// Everything a run is driven with.
export { openAssembly, type RunAssembly } from "./assembly.ts";
export { type ChosenModel, chooseModel } from "./model.ts";
export { relocateHooks } from "./relocate-hooks.ts";
export { planRun, type RunPlan, turnSettings } from "./turn.ts";
