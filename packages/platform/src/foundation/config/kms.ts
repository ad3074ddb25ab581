// The service that keeps the key-encryption key, as it is written in the configuration.
import type { PlatformConfig } from "@agentcli/protocol";
import { readPrivateUrl } from "./private-url.ts";
import { SettingError } from "./setting-error.ts";
import type { KmsSettings } from "./settings.ts";

type Written = NonNullable<PlatformConfig["kms"]>;

export function readKms(written: Written): KmsSettings {
  const { provider, key } = written;
  if (provider === undefined || key === undefined)
    throw new SettingError("kms needs provider and key. Set both, or leave the whole of [kms] out.");
  const cacheMs = (written.cache_seconds ?? 600) * 1_000;
  return provider === "aws" ? readAws(written, { key, cacheMs }) : readVault(written, { key, cacheMs });
}

interface Common {
  key: string;
  cacheMs: number;
}

/** An alias can be pointed to another key, with which nothing could be read. */
const keyArn = /^arn:(aws[a-z-]*):kms:([a-z0-9-]+):\d{12}:key\/[\w-]+$/;

function readAws(written: Written, { key, cacheMs }: Common): KmsSettings {
  const [, partition, region] = keyArn.exec(key) ?? [];
  if (partition === undefined || region === undefined)
    throw new SettingError(
      `kms.key: "${key}" is not the ARN of a key, such as arn:aws:kms:eu-central-1:111122223333:key/1234abcd-….`,
    );
  const domain = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
  const endpoint = readEndpoint(written.endpoint ?? `https://kms.${region}.${domain}`);
  return { kind: "aws", key, region, endpoint, cacheMs, ...variableNames(written) };
}

function readVault(written: Written, { key, cacheMs }: Common): KmsSettings {
  const { endpoint, mount = "transit", namespace = null, token_file: path, token_env: variable } = written;
  if (endpoint === undefined)
    throw new SettingError("kms.endpoint is missing: the address of Vault, such as https://vault.example.com:8200.");
  if (!/^\w[\w.-]*$/.test(key)) throw new SettingError(`kms.key: "${key}" cannot be the name of a key. Check it.`);
  if (!/^\w[\w.-]*(?:\/\w[\w.-]*)*$/.test(mount))
    throw new SettingError(`kms.mount: "${mount}" cannot be a path of Vault, such as transit. Check it.`);
  if (path !== undefined && variable !== undefined)
    throw new SettingError("kms.token_env and kms.token_file exclude each other. Set one of them.");
  const token =
    path === undefined
      ? { kind: "variable" as const, variable: variable ?? usualTokenVariable }
      : { kind: "file" as const, path };
  return { kind: "vault", key, mount, namespace, endpoint: readEndpoint(endpoint), cacheMs, token };
}

const usualTokenVariable = "VAULT_TOKEN";

/** Those that the service needs; a session token may be missing. */
export function variablesOfKms(written: Written | undefined) {
  if (written?.provider === "aws") {
    const { accessKeyVariable, secretKeyVariable } = variableNames(written);
    const remedy = "Put the credentials of the key there.";
    return [
      { setting: "kms.access_key_id_env", variable: accessKeyVariable, remedy },
      { setting: "kms.secret_access_key_env", variable: secretKeyVariable, remedy },
    ];
  }
  if (written?.provider === undefined || written.token_file !== undefined) return [];
  return [
    { setting: "kms.token_env", variable: written.token_env ?? usualTokenVariable, remedy: "Put the token there." },
  ];
}

const variableNames = (written: Written) => ({
  accessKeyVariable: written.access_key_id_env ?? "AWS_ACCESS_KEY_ID",
  secretKeyVariable: written.secret_access_key_env ?? "AWS_SECRET_ACCESS_KEY",
  sessionTokenVariable: written.session_token_env ?? "AWS_SESSION_TOKEN",
});

/** Data keys come back in clear: they do not leave this machine without TLS. */
function readEndpoint(endpoint: string): string {
  if (readPrivateUrl(endpoint) !== null) return endpoint.replace(/\/+$/, "");
  throw new SettingError(
    `kms.endpoint: "${endpoint}" is not a URL like https://vault.example.com:8200 (http is allowed only for localhost).`,
  );
}
