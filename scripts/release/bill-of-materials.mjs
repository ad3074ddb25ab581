// The software bill of materials of each package (CycloneDX), and the licences of everything in all of them.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeComponent } from "./executable.mjs";

export function writeBillOfMaterials(root, packages, directory) {
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  for (const name of packages) {
    const folder = join(root, "packages", name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const bundled = JSON.parse(readFileSync(join(folder, "dist/third-party.json"), "utf8"));
    const components = [...bundled, ...installedOf(manifest, locked)];
    const file = manifest.name.replace("@", "").replace("/", "-");
    writeBill(join(directory, `${file}.cdx.json`), billOf(manifest, components, locked));
    if (name === "cli")
      writeBill(
        join(directory, `${file}-executable.cdx.json`),
        billOf(manifest, [...components, nodeComponent], locked),
      );
    writeFileSync(
      join(directory, `${file}-THIRD-PARTY-LICENSES.txt`),
      readFileSync(join(folder, "dist/THIRD-PARTY-LICENSES.txt")),
    );
  }
}

const writeBill = (path, bill) => writeFileSync(path, `${JSON.stringify(bill, null, 2)}\n`);

/** What npm installs beside the package. */
const installedOf = ({ dependencies = {}, optionalDependencies = {} }, locked) =>
  Object.entries({ ...dependencies, ...optionalDependencies }).map(([name, version]) => ({
    name,
    version,
    license: locked[`node_modules/${name}`]?.license ?? "UNKNOWN",
  }));

/** Without a time and with a serial number of its contents: the same sources give the same file. */
function billOf({ name, version, license }, components, locked) {
  const known = components.map((component) => describe(component, locked));
  const digest = createHash("sha256")
    .update(JSON.stringify([name, version, known]))
    .digest("hex");
  const serial = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${serial.join("-")}`,
    version: 1,
    metadata: { component: { ...describe({ name, version, license }, locked), type: "application" } },
    components: known,
  };
}

function describe({ name, version, license }, locked) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const integrity = locked[`node_modules/${name}`]?.integrity;
  const [algorithm, value] = integrity?.split("-") ?? [];
  const isLocked = algorithm === "sha512" && locked[`node_modules/${name}`].version === version;
  const licenses = /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(license === "UNKNOWN" ? {} : { licenses }),
    ...(isLocked ? { hashes: [{ alg: "SHA-512", content: Buffer.from(value, "base64").toString("hex") }] } : {}),
  };
}
