// Variables that make package managers fail at once where there is no network, instead of retrying for minutes. Pure.
import type { Environment } from "./tool-environment.ts";

const offline: Environment = {
  npm_config_fetch_retries: "0",
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_update_notifier: "false",
  pnpm_config_fetch_retries: "0",
  YARN_ENABLE_NETWORK: "false",
  YARN_HTTP_RETRY: "0",
  YARN_ENABLE_TELEMETRY: "false",
  PIP_RETRIES: "0",
  PIP_DEFAULT_TIMEOUT: "5",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  UV_OFFLINE: "1",
  POETRY_REQUESTS_MAX_RETRIES: "0",
  CONDA_OFFLINE: "true",
  CARGO_NET_OFFLINE: "true",
  CARGO_NET_RETRY: "0",
  GOPROXY: "off",
  BUNDLE_RETRY: "0",
  BUNDLE_TIMEOUT: "5",
  COMPOSER_DISABLE_NETWORK: "1",
  MAVEN_ARGS: "--offline",
  HEX_OFFLINE: "1",
  HOMEBREW_NO_AUTO_UPDATE: "1",
};

/** What the user has set wins, in whatever case npm would accept it. */
export function withOfflineVariables(env: Environment): Environment {
  const names = new Set(Object.keys(env).map((name) => name.toLowerCase()));
  const missing = Object.entries(offline).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(missing), ...env };
}
