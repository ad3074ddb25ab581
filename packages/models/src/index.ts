export * from "./catalog.ts";
export * from "./configured.ts";
export * from "./open.ts";
export { findPreset, keylessProviders, presetKeys, presetNames } from "./presets.ts";
export * from "./prices.ts";
export * from "./provider.ts";
