// Encryption at rest: texts of people are never stored in clear.
export { openSealed, seal, Unsealable } from "./cipher.ts";
export { configuredKey, type KeySettings } from "./configured-key.ts";
export { readKeyFile, restoreKeyFile } from "./key-file.ts";
export { KeyServiceFault } from "./key-service.ts";
export { findKey, openVault } from "./open.ts";
export { type Rotation, rotateKeyFile } from "./rotate.ts";
export { rotateServiceKey, type ServiceRotation } from "./rotate-service.ts";
export { teamKey } from "./team-key.ts";
export { type DataKey, type KeyEncryption, type Vault, vaultOf } from "./vault.ts";
export { VaultError } from "./vault-error.ts";
