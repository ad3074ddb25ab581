// A client of PostgreSQL as the archive of an npm package, which npm installs without a registry.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const client = `
const { connect } = require("node:net");
// Sends one query, and calls back with the first column of its first row.
exports.query = (sql, done) => {
  const socket = connect("/tmp/.s.PGSQL.5432");
  let received = Buffer.alloc(0);
  socket.on("error", done);
  const message = (kind, body) => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(body.length + 4);
    socket.write(Buffer.concat([Buffer.from(kind), size, body]));
  };
  const read = (kind, body) => {
    if (kind === "Z") message("Q", Buffer.from(sql + "\\0"));
    if (kind === "E") done(new Error(body.toString()));
    if (kind === "D") {
      done(null, body.subarray(6, 6 + body.readInt32BE(2)).toString());
      socket.destroy();
    }
  };
  socket.on("data", (data) => {
    received = Buffer.concat([received, data]);
    while (received.length >= 5 && received.length > received.readInt32BE(1)) {
      const end = 1 + received.readInt32BE(1);
      read(String.fromCharCode(received[0]), received.subarray(5, end));
      received = received.subarray(end);
    }
  });
  message("", Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from("user\\0postgres\\0database\\0postgres\\0\\0")]));
};
`;

export function writeNpmPackage(archive: string): void {
  const tree = join(archive, ".npm");
  mkdirSync(join(tree, "package"), { recursive: true });
  writeFileSync(join(tree, "package/package.json"), JSON.stringify({ name: "shop-client", version: "1.0.0" }));
  writeFileSync(join(tree, "package/index.js"), client);
  execFileSync("tar", [
    "--create",
    "--gzip",
    "--file",
    join(archive, "shop-client.tgz"),
    "--directory",
    tree,
    "package",
  ]);
  rmSync(tree, { recursive: true });
}
