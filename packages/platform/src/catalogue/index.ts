// What there is to choose from.
export { knownModels } from "./models.ts";
