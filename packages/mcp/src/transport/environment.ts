// The environment of a server process: a few of the user's variables, those passed by name, and those set for it.
import type { StdioTransport } from "../settings.ts";

export type Variables = Record<string, string | undefined>;

const alwaysPassed = ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"];
/** Behind a company proxy a server needs these to trust its certificates. */
const certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];

export function serverEnvironment({ env, envVars, sandbox }: StdioTransport, from: Variables): Record<string, string> {
  const names = [...alwaysPassed, ...certificates, ...envVars];
  const passed = names.flatMap((name) => {
    const value = from[name];
    // A sandbox has its own temporary directory.
    return value === undefined || (name === "TMPDIR" && sandbox) ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(passed), ...env };
}
