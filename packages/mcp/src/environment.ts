// The variables a server process gets: few of the user's, what is passed on by name, and what is set for it.
import type { StdioTransport } from "./settings.ts";

export type Variables = Record<string, string | undefined>;

const always = ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"];
/** Without these a server behind a company proxy trusts nobody. */
const certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];

export function serverEnvironment({ env, envVars, sandbox }: StdioTransport, from: Variables): Record<string, string> {
  const names = [...always, ...certificates, ...envVars];
  const passedOn = names.flatMap((name) => {
    const value = from[name];
    // A sandbox has its own place for temporary files.
    return value === undefined || (name === "TMPDIR" && sandbox) ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(passedOn), ...env };
}
