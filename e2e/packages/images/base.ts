// Images for tests of deploy/, built by buildah. No registry of images is needed: the base is made of Debian packages, and of
// Node and npm from the registry of packages.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@agentcli/testkit";

const suite = "bookworm";
const nodeVersion = "22";

export interface Images {
  /** Builds `dockerfile` with the files of the context; `BASE` is the base for tests. */
  build(tag: string, dockerfile: string): void;
  /** The root directory of an image, mounted. */
  mount(tag: string): string;
  /** As an archive that a container engine loads. */
  save(tag: string, archive: string): void;
  /** Files that Dockerfiles copy. */
  context: string;
  remove(): void;
}

export const run = (program: string, args: string[], cwd?: string): string =>
  execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, ...(cwd && { cwd }) });

/** Throws with the line that installs what is missing. Keys are programs, values Debian's packages. */
export function requirePrograms(programs: Record<string, string>): void {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin"];
  const missing = Object.entries(programs).filter(([name]) => !folders.some((each) => existsSync(join(each, name))));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name).join(" ");
  throw new Error(`Missing programs. Install them: sudo apt-get install -y --no-install-recommends ${packages}`);
}

/** With the tarballs of a release in `release/npm`, as the Dockerfiles of deploy/ expect. */
export function openImages(directory: string): Images {
  requirePrograms({ buildah: "buildah", debootstrap: "debootstrap" });
  const driver = storageDriver(directory);
  const stores = ["--root", join(directory, "store"), "--runroot", join(directory, "run"), "--storage-driver", driver];
  const buildah = (...args: string[]) => run("buildah", [...stores, ...args]);
  const context = join(directory, "context");
  mkdirSync(join(context, "release"), { recursive: true });
  const build = (tag: string, dockerfile: string) => {
    const flags = ["--isolation", "chroot", "--format", "docker", "--build-arg", "BASE=localhost/base"];
    buildah("build", ...flags, "--tag", `localhost/${tag}`, "--file", dockerfile, context);
  };
  makeBase(directory, context);
  build("base", join(context, "base.Dockerfile"));
  return {
    build,
    context,
    mount: (tag) => buildah("mount", buildah("from", `localhost/${tag}`).trim()).trim(),
    save: (tag, archive) => void buildah("push", `localhost/${tag}`, `docker-archive:${archive}:${tag}:latest`),
    remove: () => void buildah("rmi", "--all", "--force"),
  };
}

/** vfs copies all files for each layer: one line took 200 s where overlay took 1. In containers there is no overlay over theirs. */
const storageDriver = (directory: string): string =>
  run("stat", ["--file-system", "--format=%T", directory]).trim() === "overlayfs" ? "vfs" : "overlay";

function makeBase(directory: string, context: string): void {
  const root = join(directory, "base");
  run("debootstrap", ["--variant=minbase", "--include=ca-certificates", suite, root]);
  installQuickly(root);
  addPackage(directory, `node-linux-${process.arch}@${nodeVersion}`, join(root, "usr/local/lib/node"));
  // Not a link: npm installs programs beside the file that it leads to.
  cpSync(join(root, "usr/local/lib/node/bin/node"), join(root, "usr/local/bin/node"));
  addPackage(directory, "npm@10", join(root, "usr/local/lib/node_modules/npm"));
  for (const name of ["npm", "npx"]) {
    const target = `../lib/node_modules/npm/bin/${name}-cli.js`;
    symlinkSync(target, join(root, "usr/local/bin", name));
    chmodSync(join(root, "usr/local/bin", target), 0o755);
  }
  // Certificates of this machine, where a proxy of its network has one of its own.
  const certificates = process.env.MACHINE_CA_CERTS ?? process.env.NODE_EXTRA_CA_CERTS;
  const trusted = "/usr/local/share/host-certificates.pem";
  if (certificates && existsSync(certificates)) cpSync(certificates, join(root, trusted));
  run("tar", ["--directory", root, "--create", "--file", join(context, "base.tar"), "."]);
  writeFileSync(
    join(context, "base.Dockerfile"),
    `FROM scratch\nADD base.tar /\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${certificates ? ` NODE_EXTRA_CA_CERTS=${trusted}` : ""}\n`,
  );
}

/** Packages are installed into this root without a flush to the disk per file. */
export const installQuickly = (root: string): void =>
  writeFileSync(join(root, "etc/dpkg/dpkg.cfg.d/quick"), "force-unsafe-io\n");

/** From the registry that npm is configured for. */
function addPackage(directory: string, name: string, target: string): void {
  const packed = join(directory, "packed", name.replaceAll(/\W/g, "-"));
  mkdirSync(packed, { recursive: true });
  mkdirSync(target, { recursive: true });
  run("npm", ["pack", "--silent", "--pack-destination", packed, name], projectRoot);
  const [tarball = ""] = readdirSync(packed);
  run("tar", ["--extract", "--gzip", "--file", join(packed, tarball), "--directory", target, "--strip-components=1"]);
}
