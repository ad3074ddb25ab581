// Scripted services that keep keys: AWS KMS, and the transit engine of Vault.
export { type FakeAwsKms, startFakeAwsKms } from "./aws-kms.ts";
export type { FakeKeyService } from "./server.ts";
export { type FakeVault, startFakeVault } from "./vault-transit.ts";
