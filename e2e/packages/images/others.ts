// Stand-ins for images of registries that the compose file names: the same programs, from Debian's packages and as a Go module.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Images } from "./base.ts";

const install = (packages: string) =>
  `RUN apt-get update && apt-get install --yes --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`;

const startPostgres = `#!/bin/sh
set -e
data=/var/lib/postgresql/data
programs=$(echo /usr/lib/postgresql/*/bin)
as() { su postgres -c "PATH=$programs:$PATH $1"; }
if [ ! -e $data/PG_VERSION ]; then
  install -d -o postgres -m 0700 $data
  printf %s "$POSTGRES_PASSWORD" > /run/password && chown postgres /run/password
  as "initdb -D $data -U $POSTGRES_USER --pwfile=/run/password --auth-host=scram-sha-256" && rm /run/password
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
  echo "create database $POSTGRES_DB" | as "postgres --single -D $data postgres"
fi
exec su postgres -c "exec $programs/postgres -D $data -c listen_addresses='*'"
`;

/** The image that the compose file names → the one that takes its part. */
export const standIns = { postgres: "test-postgres", objects: "test-objects", proxy: "test-proxy" };

/** The path of the program of the object store. Compiling it takes minutes. */
export async function compileObjectStore(directory: string): Promise<string> {
  const programs = join(directory, "programs");
  mkdirSync(programs);
  await promisify(execFile)("go", ["install", "github.com/versity/versitygw/cmd/versitygw@v1.8.0"], {
    env: { ...process.env, GOBIN: programs, GOFLAGS: "-mod=mod", CGO_ENABLED: "0" },
    cwd: programs,
  });
  return join(programs, "versitygw");
}

export function buildOthers(images: Images, objectStore: string): void {
  const { context } = images;
  const write = (name: string, lines: string[]) => {
    writeFileSync(join(context, name), `${["ARG BASE", "FROM ${BASE}", ...lines].join("\n")}\n`);
    images.build(name, join(context, name));
  };
  writeFileSync(join(context, "start-postgres"), startPostgres, { mode: 0o755 });
  write(standIns.postgres, [install("postgresql"), "COPY start-postgres /start-postgres", 'CMD ["/start-postgres"]']);
  write(standIns.proxy, [
    install("caddy"),
    "ENV XDG_DATA_HOME=/data",
    'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]',
  ]);
  cpSync(objectStore, join(context, "versitygw"));
  write(standIns.objects, [install("wget"), "COPY versitygw /versitygw", 'ENTRYPOINT ["/versitygw"]']);
}
