// Nothing people said is stored in clear.
export type { DataKey, KeyEncryption, Vault } from "./vault.ts";
