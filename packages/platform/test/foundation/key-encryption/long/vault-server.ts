// Vault as a server of its own, with a transit engine: sealed and unsealed by tests, which have its root token.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, projectRoot, temporaryDirectory, unusedPort } from "@agentcli/testkit";
import { provideVault } from "./vault-program.ts";

export interface VaultServer {
  endpoint: string;
  /** The same server over TLS, for processes that trust `authority`. */
  tlsEndpoint: string;
  /** A file of certificates. */
  authority: string;
  /** Throws for an answer that is not of the 200s. */
  asRoot(method: string, path: string, body?: object): Promise<Answer>;
  /** A new token with these policies. */
  token(policies: string[], options?: object): Promise<string>;
  seal(): Promise<void>;
  unseal(): Promise<void>;
  close(): Promise<void>;
}

/** Members that tests read. */
interface Answer {
  data?: unknown;
  auth?: { client_token: string };
  keys?: string[];
  root_token?: string;
}

const fixtures = join(projectRoot, "e2e/platform/fixtures");

export async function startVault(): Promise<VaultServer> {
  const [program, directory] = [await provideVault(), await temporaryDirectory()];
  const [port, tlsPort] = [await unusedPort(), await unusedPort()];
  const [endpoint, tlsEndpoint] = [`http://127.0.0.1:${port}`, `https://localhost:${tlsPort}`];
  const authority = join(fixtures, "tls-cert.pem");
  const tls = `tls_cert_file = "${authority}"\n  tls_key_file = "${join(fixtures, "tls-key.pem")}"`;
  const listener = (at: number, more: string) => `listener "tcp" {\n  address = "127.0.0.1:${at}"\n  ${more}\n}\n`;
  const config = join(directory.path, "vault.hcl");
  const settings = 'storage "inmem" {}\ndisable_mlock = true\n';
  writeFileSync(config, `${settings}${listener(port, "tls_disable = true")}${listener(tlsPort, tls)}`);
  const env = { PATH: process.env.PATH, HOME: directory.path };
  const child = spawn(program, ["server", `-config=${config}`], { env, stdio: "ignore" });
  const exited = once(child, "exit");

  const asToken = async (token: string, method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { "x-vault-token": token, "x-vault-request": "true" };
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${endpoint}/v1/${path}`, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  await eventually(() => asToken("", "GET", "sys/seal-status"));
  const { keys = [], root_token: root = "" } = await asToken("", "PUT", "sys/init", {
    secret_shares: 1,
    secret_threshold: 1,
  });
  const asRoot: VaultServer["asRoot"] = (...call) => asToken(root, ...call);
  const unseal = async () => {
    await asToken("", "PUT", "sys/unseal", { key: keys[0] });
    // It answers before it is the active one.
    await eventually(() => asRoot("GET", "sys/mounts"));
  };
  await unseal();
  return {
    ...{ endpoint, tlsEndpoint, authority, asRoot, unseal },
    async token(policies, options = {}) {
      const { auth } = await asRoot("POST", "auth/token/create", { policies, no_default_policy: true, ...options });
      return auth?.client_token ?? "";
    },
    seal: async () => void (await asRoot("PUT", "sys/seal")),
    async close() {
      child.kill("SIGKILL");
      await exited;
      await directory.remove();
    },
  };
}
