// Builds a Dockerfile with buildah: in a user namespace, with the system directories of the host, the context and nothing else,
// and a network whose only way out is the proxy. Everything ends with the server.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { loadMachineParts } from "@agentcli/workspace";
import { inBuilderNamespace, type MachineLimits, type MachineProvider, runProgram } from "../machines/index.ts";
import { patternsOf } from "../secrets/index.ts";
import { imageDescription, readEnv } from "./image-env.ts";
import { ImageFault } from "./image-fault.ts";
import { openBuildLimits } from "./limits.ts";
import { type ImageLog, importOutput } from "./make.ts";
import { type ImageSecret, mountedSecrets } from "./mounted-secrets.ts";
import { requireTool } from "./tools.ts";

export interface DockerfileRequest {
  /** Holds nothing but the files of this build. */
  directory: string;
  /** Where the repository is checked out; context and Dockerfile are inside. */
  repository: string;
  dockerfile: string;
  context: string;
  allowedHosts: string[];
  /** For the steps that mount them. The image must not have one. */
  secrets: ImageSecret[];
  onDenied(text: string): void;
}

export interface BuiltImage {
  digest: string;
  env: Record<string, string>;
}

export interface BuilderOptions {
  provider: MachineProvider;
  /** Of everything that the build runs. */
  limits: MachineLimits;
}

/** Throws ImageFault without buildah, and where the build fails; the log has its output. */
export async function buildDockerfile(
  request: DockerfileRequest,
  { provider, limits: wanted }: BuilderOptions,
  output: ImageLog,
): Promise<BuiltImage> {
  requireTool("buildah", "A Dockerfile");
  const { directory, repository } = request;
  const context = inside(repository, request.context);
  const store = join(directory, "store");
  mkdirSync(store, { recursive: true, mode: 0o755 });
  const dockerfile = readFileSync(inside(repository, request.dockerfile), "utf8");
  writeFileSync(join(store, "Dockerfile"), dockerfile, { mode: 0o644 });
  const secrets = mountedSecrets(dockerfile, request.secrets, (name) => output.log(missingSecret(name)));
  const input = JSON.stringify({ secrets, patterns: patternsOf(secrets) });
  const closeProxy = await serveProxy(join(directory, socketName), request);
  const limits = await openBuildLimits(wanted, store, output);
  try {
    const digest = await inBuilderNamespace(async ({ enter, ownerId }) => {
      if (ownerId === null) output.log(withoutRoot);
      else await give([store, context], ownerId);
      const inside = [...enter, ...(await builderCommand(wanted))];
      const argv = limits.enter(withView({ directory, store, context, ownerId }, inside));
      return importOutput(provider, { argv, purpose: "buildah", input, maxBytes: wanted.diskBytes }, limits);
    });
    return { digest, env: await readEnv(store) };
  } catch (error) {
    throw limits.reached() ?? error;
  } finally {
    closeProxy();
    await limits.close();
  }
}

const missingSecret = (name: string): string =>
  `The Dockerfile mounts the secret ${name}, which this build does not get. Set it: platform secrets set ${name} --phase build\n`;

/** Of its user namespace, which has one user and no groups. */
const withoutRoot = "This server does not run as root: commands (RUN) fail where buildah wants to set groups.\n";

/** A link of the repository must not lead out of it. */
function inside(repository: string, path: string): string {
  const [root, found] = [realpathSync(repository), join(repository, path)];
  const real = existsSync(found) ? realpathSync(found) : null;
  if (real === null) throw new ImageFault(`The repository has no ${path}.`);
  if (real === root || real.startsWith(`${root}/`)) return real;
  throw new ImageFault(`${path} is a link that leads out of the repository.`);
}

const give = (paths: string[], id: number) =>
  runProgram(["chown", "--recursive", "--no-dereference", `${id}:${id}`, ...paths]);

const socketName = "egress.sock";

async function serveProxy(path: string, { allowedHosts, onDenied }: DockerfileRequest): Promise<() => void> {
  const { openEgressProxy, readRules } = await loadMachineParts();
  const proxy = await openEgressProxy({
    rules: await readRules(allowedHosts, []),
    onDenied: ({ host, port, reason }) => onDenied(`Blocked: ${host}:${port}. ${reason}\n`),
  });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    proxy.accept("http", socket);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  chmodSync(path, 0o666);
  return () => void server.close();
}

interface BuilderFiles {
  directory: string;
  store: string;
  context: string;
  ownerId: number | null;
}

/** Shows the files below /tmp in a mount namespace of its own: the builder's user cannot enter the data directory. */
function withView({ directory, store, context, ownerId }: BuilderFiles, argv: string[]): string[] {
  const point = join(directory, "view");
  mkdirSync(point, { recursive: true });
  const asRoot = ownerId === null ? ["--user", "--map-root-user"] : [];
  const files = [point, store, context, join(directory, socketName), process.execPath];
  const script = `
set -e
point=$1 store=$2 context=$3 socket=$4 node=$5
shift 5
mount -t tmpfs -o mode=755,nosuid,nodev,size=1m builder "$point"
cd "$point"
mkdir store context
: > socket
: > node
mount --bind "$store" store
mount --bind "$context" context
mount --bind "$socket" socket
mount --bind "$node" node
mount --rbind . /tmp
cd /
exec "$@"
`;
  const apart = ["unshare", ...asRoot, "--mount", "--propagation=private", "--"];
  return [...apart, "/bin/sh", "-c", script, "builder", ...files, ...argv];
}

/** Where they are for buildah. */
const view = { store: "/build/store", context: "/build/context", socket: "/build/egress.sock", node: "/build/node" };

async function builderCommand({ temporaryBytes }: MachineLimits): Promise<string[]> {
  const { findBubblewrap, proxyVariables, shareTemporary } = await loadMachineParts();
  const sizes = temporaryBytes === null ? null : shareTemporary(temporaryBytes, { repositories: 0, varTmp: "absent" });
  const sized = (path: string, bytes: number | undefined) => [
    ...(bytes === undefined ? [] : ["--size", String(bytes)]),
    ...["--tmpfs", path],
  ];
  const path = "/usr/sbin:/usr/bin:/sbin:/bin";
  const variables = { PATH: path, HOME: view.store, TMPDIR: view.store, ...proxyVariables() };
  return [
    findBubblewrap({ path, untrusted: [] }),
    ...["--clearenv", ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value])],
    ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"],
    ...["--cap-add", "ALL", ...(await systemPaths()), "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys"],
    ...["--perms", "1777", ...sized("/tmp", sizes?.tmp), ...sized("/run", sizes?.run)],
    ...[...sized("/dev/shm", sizes?.shm), "--perms", "1777", "--dir", "/var/tmp"],
    ...["--bind", "/tmp/store", view.store, "--ro-bind", "/tmp/context", view.context],
    ...["--bind", "/tmp/socket", view.socket, "--ro-bind", "/tmp/node", view.node],
    ...["--", view.node, "--eval", withProxy, view.socket, buildScript],
  ];
}

/** Of buildah. Not `certs.d` and `auth.json`: keys of the operator may be there. */
const builderSettings = ["policy.json", "registries.conf", "registries.conf.d", "storage.conf"].map(
  (name) => `/etc/containers/${name}`,
);

/** What agents see of the host too, and no more: commands reach it past the root directory of their image. */
async function systemPaths(): Promise<string[]> {
  const { existingSystemPaths, findSystemPath } = await loadMachineParts();
  const paths = [...existingSystemPaths(), ...builderSettings.filter((path) => existsSync(path))];
  return paths.flatMap((path) => {
    const source = realpathSync(path);
    const isLink = lstatSync(path).isSymbolicLink() && findSystemPath(source) !== undefined;
    return isLink ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", source, path];
  });
}

/**
 * Listens where the proxy variables say, then runs the script. Secrets come on standard input, and are files in memory: not in
 * an argument or variable, which every step could read.
 */
const withProxy = `
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { connect, createServer } = require("node:net");
const [socketPath, script] = process.argv.slice(1);
const { secrets, patterns } = JSON.parse(readFileSync(0, "utf8"));
mkdirSync("/run/build", { mode: 0o700 });
if (patterns.length > 0) writeFileSync("/run/build/patterns", patterns.join("\\n") + "\\n", { mode: 0o600 });
const flags = secrets.map(({ name, value }, at) => {
  writeFileSync("/run/build/secret-" + at, value, { mode: 0o600 });
  return "--secret=id=" + name + ",src=/run/build/secret-" + at;
});
const join = (client) => {
  const host = connect({ path: socketPath, allowHalfOpen: true });
  host.on("error", () => client.destroy());
  client.on("error", () => host.destroy());
  client.pipe(host).pipe(client);
};
createServer({ allowHalfOpen: true }, join).listen(3128, "127.0.0.1", () => {
  const options = { stdio: "inherit" };
  require("node:child_process").spawn("/bin/sh", ["-c", script, "build", ...flags], options).on("exit", (code) => process.exit(code ?? 1));
});
`;

/** Fixed times, so that the same Dockerfile and context give the same layer where their commands do. */
const buildScript = `
set -e
printf 'root:x:0:0:root:/root:/bin/sh\\n' > /etc/passwd
printf 'root:x:0:\\n' > /etc/group
printf '127.0.0.1 localhost\\n' > /etc/hosts
: > /etc/resolv.conf
cd ${view.store}
b="buildah --root root --runroot run --storage-driver vfs"
$b bud "$@" --isolation chroot --timestamp 0 --file Dockerfile --iidfile id ${view.context} >&2
$b inspect --type image "$(cat id)" > ${imageDescription}
tree=$($b mount "$($b from "$(cat id)")")
if [ -e /run/build/patterns ]; then
  (cd "$tree" && grep -rlF -f /run/build/patterns . > /run/build/found) && code=0 || code=$?
  if [ -s /run/build/found ]; then
    echo "A secret of this build is in the image. Have the step that mounts it leave none in:" >&2
    sort /run/build/found | head -n 10 | cut -c 2- >&2
    exit 1
  fi
  [ $code = 1 ] || { echo "The image could not be searched for secrets." >&2; exit 1; }
fi
tar --directory="$tree" --create --sparse --file=- --sort=name --mtime=@0 --numeric-owner --format=posix \
  --pax-option=delete=atime,delete=ctime --warning=no-file-ignored .
`;
