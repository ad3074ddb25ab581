// What other groups may use of models and inference.
export { listModels } from "./catalogue/index.ts";
export { type InferenceOptions, openInference } from "./open.ts";
