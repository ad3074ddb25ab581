// A registry for npm with the tarballs of a folder: node registry.mjs FOLDER PORT. npm asks it for the packages of one scope.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [folder, port] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}`;

const packages = Object.fromEntries(
  readdirSync(folder).map((file) => {
    const path = join(folder, file);
    const read = ["--extract", "--gzip", "--to-stdout", "--file", path, "package/package.json"];
    const manifest = JSON.parse(execFileSync("tar", read, { encoding: "utf8" }));
    const integrity = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
    const version = { ...manifest, dist: { tarball: `${url}/-/${file}`, integrity } };
    const { name, version: number } = manifest;
    return [name, { name, "dist-tags": { latest: number }, versions: { [number]: version } }];
  }),
);

createServer(({ url: path = "" }, response) => {
  const file = /^\/-\/([\w.-]+)$/.exec(path)?.[1];
  if (file) return void createReadStream(join(folder, file)).pipe(response);
  const found = packages[decodeURIComponent(path.slice(1))];
  response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(found ?? {}));
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
