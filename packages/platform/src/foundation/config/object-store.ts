// The object store, as it is written in the configuration.
import { resolve } from "node:path";
import type { PlatformConfig } from "@agentcli/protocol";
import { SettingError } from "./setting-error.ts";
import type { ObjectStoreSettings } from "./settings.ts";

type Written = NonNullable<PlatformConfig["object_store"]>;

export function readObjectStore(written: Written | undefined, cwd: string): ObjectStoreSettings | null {
  if (written === undefined) return null;
  const { directory, bucket, region = "us-east-1", prefix = "" } = written;
  if ((directory === undefined) === (bucket === undefined))
    throw new SettingError("object_store needs either directory or bucket. Set one of them, or leave all of it out.");
  if (directory !== undefined) return { kind: "directory", path: resolve(cwd, directory) };
  if (!/^[a-z0-9][a-z0-9.-]+[a-z0-9]$/.test(bucket ?? ""))
    throw new SettingError(`object_store.bucket: "${bucket}" cannot be the name of a bucket. Check it.`);
  return {
    kind: "s3",
    endpoint: readEndpoint(written.endpoint ?? `https://s3.${region}.amazonaws.com`),
    region,
    bucket: bucket ?? "",
    prefix: readPrefix(prefix),
    ...variableNames(written),
  };
}

/** Those that a bucket needs; a session token may be missing. */
export function variablesOfObjectStore(written: Written | undefined) {
  if (written?.bucket === undefined) return [];
  const { accessKeyVariable, secretKeyVariable } = variableNames(written);
  const remedy = "Put the credentials of the bucket there.";
  return [
    { setting: "object_store.access_key_id_env", variable: accessKeyVariable, remedy },
    { setting: "object_store.secret_access_key_env", variable: secretKeyVariable, remedy },
  ];
}

const variableNames = (written: Written) => ({
  accessKeyVariable: written.access_key_id_env ?? "AWS_ACCESS_KEY_ID",
  secretKeyVariable: written.secret_access_key_env ?? "AWS_SECRET_ACCESS_KEY",
  sessionTokenVariable: written.session_token_env ?? "AWS_SESSION_TOKEN",
});

function readEndpoint(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url !== null && isWeb && !url.username && !url.search && !url.hash) return endpoint.replace(/\/+$/, "");
  throw new SettingError(`object_store.endpoint: "${endpoint}" is not a URL like https://s3.example.com.`);
}

function readPrefix(prefix: string): string {
  const trimmed = prefix.replace(/^\/+|\/+$/g, "");
  const names = trimmed.split("/");
  if (trimmed === "") return "";
  if (names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name))) return `${trimmed}/`;
  throw new SettingError(`object_store.prefix: "${prefix}" may have letters, digits, dots, dashes and slashes only.`);
}
