// Nothing people said is stored in clear.
export { openSealed, seal, Unsealable } from "./cipher.ts";
export { readKeyFile, restoreKeyFile } from "./key-file.ts";
export { openVault } from "./open.ts";
export { VaultProblem } from "./problem.ts";
export { type Rotation, rotateKeyFile } from "./rotate.ts";
export { type DataKey, type KeyEncryption, type Vault, vaultOf } from "./vault.ts";
