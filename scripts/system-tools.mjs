// System programs that agentcli and its tests use: finds missing ones and installs them where it runs as root on Debian or Ubuntu.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Program → its Debian package and purpose. `probe`: arguments that must succeed, where presence alone is not enough. */
export const systemTools = [
  { program: "bwrap", package: "bubblewrap", need: "required", purpose: "the sandbox" },
  { program: "git", package: "git", need: "required", purpose: "repositories" },
  { program: "curl", package: "curl", need: "required", purpose: "tests of the network" },
  { program: "perl", package: "perl", need: "required", purpose: "attempts to break out of the sandbox" },
  { program: "tmux", package: "tmux", need: "required", purpose: "tests of terminals" },
  { program: "ssh", package: "openssh-client", need: "required", purpose: "repositories reached over ssh" },
  { program: "sshd", package: "openssh-server", need: "required", purpose: "tests of repositories reached over ssh" },
  {
    ...{ program: "python3", package: "python3-venv", need: "required", purpose: "tests of the Python SDK" },
    probe: ["-c", "import ensurepip"],
  },
  { program: "sudo", package: "sudo", need: "required", purpose: "tests of the workflow action" },
  { program: "go", package: "golang-go", need: "required", purpose: "tests with a Go project" },
  { program: "cargo", package: "cargo", need: "required", purpose: "tests with a Rust project" },
  { program: "oathtool", package: "oathtool", need: "required", purpose: "tests of keys for one-time passwords" },
  { program: "chromium", package: "chromium", need: "required", purpose: "tests of the web app" },
  { program: "buildah", package: "buildah", need: "recommended", purpose: "Dockerfiles of environments" },
  { program: "rg", package: "ripgrep", need: "recommended", purpose: "fast search; without it search is slower" },
];

/** Large, and used by `npm run test:long` only. */
export const toolsOfLongTests = [
  { program: "dockerd", package: "docker.io", need: "required", purpose: "tests of machines in containers" },
  { program: "docker-compose", package: "docker-compose", need: "required", purpose: "tests of the compose file" },
  { program: "debootstrap", package: "debootstrap", need: "required", purpose: "tests of images" },
  {
    program: "systemd-nspawn",
    package: "systemd-container",
    need: "required",
    purpose: "the guide to a virtual machine",
  },
  { program: "pasta", package: "passt", need: "required", purpose: "the network of that machine" },
];

/**
 * Finds missing tools and installs or lists them. Never stops the set-up: a test that needs a tool fails with a message of its own.
 * @param {{ tools?: typeof systemTools, path?: string, uid?: number, osRelease?: string, print?: (line: string) => void, install?: (packages: string[]) => boolean }} host
 */
export function provideSystemTools(host = {}) {
  const {
    tools = systemTools,
    path = process.env.PATH ?? "",
    uid = process.getuid?.(),
    print = console.log,
    install = installPackages,
  } = host;
  const missing = tools.filter((tool) => !isOnPath(tool.program, path) || !passesProbe(tool, path));
  if (missing.length === 0) return;
  const packages = missing.map((tool) => tool.package);
  const names = missing.map((tool) => `${tool.package} (${tool.need}: ${tool.purpose})`).join(", ");
  const mayInstall = uid === 0 && isDebian(host.osRelease ?? readOsRelease());
  if (!mayInstall) return print(`Missing: ${names}. Install: ${installLine(packages)}`);
  print(`Installing with apt-get: ${packages.join(" ")}`);
  if (!install(packages)) print(`That failed. Missing: ${names}. Install: ${installLine(packages)}`);
}

const installLine = (packages) =>
  `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages.join(" ")}`;

/** Not on the path of ordinary users. */
const systemFolders = ["/usr/sbin", "/usr/local/sbin"];

function isOnPath(program, path) {
  return [...path.split(delimiter), ...systemFolders].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // Not in this folder; the next may have it.
    }
  });
}

function passesProbe({ program, probe }, path) {
  return !probe || spawnSync(program, probe, { env: { ...process.env, PATH: path }, stdio: "ignore" }).status === 0;
}

const isDebian = (osRelease) => /^(?:ID|ID_LIKE)=.*\b(?:debian|ubuntu)\b/m.test(osRelease);

function readOsRelease() {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return ""; // Only Linux has it, and elsewhere nothing is installed anyway.
  }
}

/** Whether it worked; the output of apt-get is shown only when it did not. */
function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const steps = [["update"], ["install", "-y", "--no-install-recommends", ...packages]];
  return withoutServices(() =>
    steps.every((args) => {
      const run = spawnSync("apt-get", args, { env, encoding: "utf8" });
      if (run.status !== 0) process.stderr.write(run.error ? `${run.error.message}\n` : `${run.stdout}${run.stderr}`);
      return run.status === 0;
    }),
  );
}

/** Tests start their own ssh server on loopback: the package must not open one to the network. */
function withoutServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    return install();
  } finally {
    rmSync(policy, { force: true });
  }
}
