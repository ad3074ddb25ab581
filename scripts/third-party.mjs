// A plugin of the bundler that writes the licences of bundled packages beside them, and their names for the SBOM.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `directory` gets THIRD-PARTY-LICENSES.txt and third-party.json; what earlier bundles wrote there is kept. */
export const thirdParty = (directory) => ({
  name: "third-party",
  writeBundle(_options, bundle) {
    const ids = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
    recordPackages(directory, [...new Set(ids.map(packageDirectory).filter(Boolean))]);
  },
});

/** Adds the packages in these directories to the lists. */
export function recordPackages(directory, packages) {
  const list = join(directory, "third-party.json");
  const known = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  const found = [...known, ...packages.map(describe)];
  const unique = [...new Map(found.map((one) => [`${one.name}@${one.version}`, one])).values()];
  unique.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  writeFileSync(list, `${JSON.stringify(unique, null, 2)}\n`);
  writeFileSync(join(directory, "THIRD-PARTY-LICENSES.txt"), unique.map(section).join("\n\n"));
}

function packageDirectory(id) {
  const [, directory] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
  return directory && existsSync(join(directory, "package.json")) && !directory.includes("/@agentcli/")
    ? directory
    : undefined;
}

function describe(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(directory, file), "utf8").trim() : "";
  return { name, version, license: typeof license === "string" ? license : "UNKNOWN", text };
}

const section = ({ name, version, license, text }) =>
  `${name} ${version} (${license})\n${"=".repeat(72)}\n${text || `Licensed under ${license}; the package has no file with its text.`}\n`;
