// The key-encryption key that the settings name: in a file, or of a service.
import type { KmsSettings } from "../config/index.ts";
import { openAwsKms } from "./aws-kms.ts";
import { readKeyFile } from "./key-file.ts";
import type { KeyService } from "./key-service.ts";
import { serviceKey } from "./service-key.ts";
import type { KeyEncryption } from "./vault.ts";
import { openVaultTransit, readTokenFile } from "./vault-transit.ts";

export interface KeySettings {
  kekFile: string;
  /** Absent or null: the file has the key. */
  kms?: KmsSettings | null;
  /** Where credentials of the service are looked up. */
  variables?: NodeJS.ProcessEnv;
}

/**
 * Null where there is none yet: no such file, or no authentication key beside the database, where it is stored as a service
 * encrypted it. Asks no service.
 */
export function configuredKey(settings: KeySettings, authenticationKey: Buffer | null): KeyEncryption | null {
  if (!settings.kms) return readKeyFile(settings.kekFile);
  if (authenticationKey === null) return null;
  const { cacheMs } = settings.kms;
  return serviceKey(openKeyService(settings.kms, settings), { authenticationKey, cacheMs, now: Date.now });
}

export function openKeyService(kms: KmsSettings, { variables = {} }: KeySettings): KeyService {
  const read = (variable: string): string => variables[variable] ?? "";
  switch (kms.kind) {
    case "aws":
      return openAwsKms({
        ...kms,
        credentials() {
          const sessionToken = read(kms.sessionTokenVariable);
          const keys = { accessKeyId: read(kms.accessKeyVariable), secretAccessKey: read(kms.secretKeyVariable) };
          return { ...keys, ...(sessionToken !== "" && { sessionToken }) };
        },
      });
    case "vault": {
      const { token } = kms;
      return openVaultTransit({
        ...kms,
        token: () => (token.kind === "file" ? readTokenFile(token.path) : read(token.variable)),
      });
    }
  }
}
