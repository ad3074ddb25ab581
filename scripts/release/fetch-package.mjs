// A package of the registry whose contents are known by their hash, unpacked into the cache of the clone.
import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The directory with the files of the package. */
export function fetchPackage(root, { name, version, integrity }) {
  const cache = join(root, "node_modules/.cache/release-packages");
  const directory = join(cache, `${name.replace("/", "+")}-${version}`);
  if (existsSync(directory)) return directory;
  const draft = join(cache, randomUUID());
  mkdirSync(join(draft, "package"), { recursive: true });
  try {
    run("npm", ["pack", "--silent", "--pack-destination", draft, `${name}@${version}`], draft);
    const tarball = join(draft, readdirSync(draft).find((file) => file.endsWith(".tgz")) ?? "");
    const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
    if (found !== integrity) throw new Error(`${name}@${version} is not the expected package: its hash is ${found}.`);
    run("tar", ["-xzf", tarball, "-C", join(draft, "package"), "--strip-components=1"], draft);
    renameSync(join(draft, "package"), directory);
    return directory;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function run(program, args, cwd) {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}
