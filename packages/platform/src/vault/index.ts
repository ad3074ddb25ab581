// Nothing people said is stored in clear.
export { Unsealable } from "./cipher.ts";
export { readKeyFile } from "./key-file.ts";
export { openVault } from "./open.ts";
export { VaultProblem } from "./problem.ts";
export { type DataKey, type KeyEncryption, type Vault, vaultOf } from "./vault.ts";
