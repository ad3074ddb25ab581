// PostgreSQL as a Debian package in a local archive that apt-get installs from.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const prefix = "opt/shop-database";
const account = 70;
/** PostgreSQL refuses to run as root. */
const asAccount = `setpriv --reuid=${account} --regid=${account} --clear-groups --`;
const control = (architecture: string) =>
  [
    ...[
      "Package: shop-database",
      "Version: 1.0",
      `Architecture: ${architecture}`,
      "Maintainer: Test <test@example.com>",
    ],
    "Description: a database for tests",
  ].join("\n");

const postinst = `#!/bin/sh
set -e
echo 'postgres:x:${account}:${account}::/var/lib/shop:/bin/sh' >> /etc/passwd
echo 'postgres:x:${account}:' >> /etc/group
mkdir -p /var/lib/shop
chown ${account}:${account} /var/lib/shop
cd /var/lib/shop
${asAccount} /${prefix}/bin/initdb --pgdata=/var/lib/shop/data --auth=trust --username=postgres --no-locale --no-sync > /dev/null
`;

const service = `#!/bin/sh
cd /var/lib/shop
exec ${asAccount} /${prefix}/bin/pg_ctl start -w -D /var/lib/shop/data -l /var/lib/shop/log -o "-k /tmp -c listen_addresses= -c fsync=off"
`;

export function writeDebianPackage(archive: string, postgresDirectory: string): void {
  const tree = join(archive, ".tree");
  const installed = join(tree, prefix);
  mkdirSync(join(tree, "DEBIAN"), { recursive: true, mode: 0o755 });
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  cpSync(postgresDirectory, installed, { recursive: true });
  linkLibraries(installed);
  const architecture = execFileSync("dpkg", ["--print-architecture"], { encoding: "utf8" }).trim();
  writeFileSync(join(tree, "DEBIAN/control"), `${control(architecture)}\n`);
  writeFileSync(join(tree, "DEBIAN/postinst"), postinst, { mode: 0o755 });
  writeFileSync(join(tree, "usr/bin/shop-database"), service, { mode: 0o755 });
  const file = join(archive, "shop-database.deb");
  execFileSync("dpkg-deb", ["--build", "--root-owner-group", "-Znone", tree, file], { stdio: "pipe" });
  rmSync(tree, { recursive: true });
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
  const listed = [
    control(architecture),
    `Filename: ./shop-database.deb`,
    `Size: ${statSync(file).size}`,
    `SHA256: ${digest}`,
  ];
  writeFileSync(join(archive, "Packages"), `${listed.join("\n")}\n`);
}

/** The npm package leaves them to a script. */
function linkLibraries(installed: string): void {
  const list = join(installed, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const path = join(dirname(installed), target.replace(/^native/, basename(installed)));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}
