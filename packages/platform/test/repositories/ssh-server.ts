// A real sshd on loopback that lets the user of the tests in, with a key.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { freePort, type GitServer } from "./git-servers.ts";

export interface SshServer extends GitServer {
  port: number;
  /** The private key that it accepts. */
  key: string;
  hostKey: { publicKey: string; fingerprint: string };
}

/** Repositories are below `url` by their absolute path. `home` is a directory for its files. */
export async function serveSsh(home: string): Promise<SshServer> {
  const program = findSshd();
  const [hostKey, userKey] = [join(home, "host_key"), join(home, "user_key")];
  for (const file of [hostKey, userKey])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file]);
  // Debian's service creates it, and in a container no service is started.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const { port, stop } = await startOnFreePort(program, { config: join(home, "sshd_config"), hostKey, userKey });
  const fingerprint = execFileSync("ssh-keygen", ["-l", "-f", hostKey]).toString().split(" ")[1] ?? "";
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    port,
    key: readFileSync(userKey, "utf8"),
    hostKey: { publicKey: readFileSync(`${hostKey}.pub`, "utf8").trim(), fingerprint },
    close: stop,
  };
}

interface Files {
  config: string;
  hostKey: string;
  userKey: string;
}

interface Started {
  port: number;
  stop(): Promise<void>;
}

/** Another process may take the port before sshd does. */
async function startOnFreePort(program: string, files: Files, attempts = 5): Promise<Started> {
  const port = await freePort();
  writeFileSync(files.config, configFor({ port, ...files }));
  const child = spawn(program, ["-D", "-e", "-f", files.config], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let log = "";
  const isListening = await new Promise<boolean>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(false));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("Server listening on")) resolve(true);
    });
  });
  if (isListening)
    return {
      port,
      async stop() {
        child.kill();
        await ended;
      },
    };
  if (attempts > 1 && /address already in use/i.test(log)) return startOnFreePort(program, files, attempts - 1);
  throw new Error(`sshd ended: ${log}`);
}

function findSshd(): string {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const found = folders.map((folder) => join(folder, "sshd")).find((path) => existsSync(path));
  if (found) return found;
  throw new Error("sshd is not installed. Install it: apt-get install openssh-server");
}

const configFor = ({ port, hostKey, userKey }: Omit<Files, "config"> & { port: number }): string => `
ListenAddress 127.0.0.1:${port}
HostKey ${hostKey}
AuthorizedKeysFile ${userKey}.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
LogLevel VERBOSE
`;
