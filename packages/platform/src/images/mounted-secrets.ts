// Secrets that steps of a Dockerfile mount: RUN --mount=type=secret,id=NAME.
import { basename } from "node:path";

export interface ImageSecret {
  name: string;
  value: string;
}

/** Those that are there; `onMissing` hears of the others. */
export function mountedSecrets(
  dockerfile: string,
  secrets: ImageSecret[],
  onMissing: (name: string) => void,
): ImageSecret[] {
  const mounts = [...dockerfile.matchAll(/--mount=(\S+)/g)].map(([, options = ""]) => readOptions(options));
  const names = mounts.flatMap((mount) => (mount.get("type") === "secret" ? nameOf(mount) : []));
  return [...new Set(names)].flatMap((name) => {
    const found = secrets.filter((secret) => secret.name === name);
    if (found.length === 0) onMissing(name);
    return found;
  });
}

const readOptions = (text: string): Map<string, string> =>
  new Map(
    text.split(",").map((option) => {
      const [name = "", ...value] = option.split("=");
      return [name, value.join("=").replaceAll('"', "")];
    }),
  );

/** Without an id, that of the file where it is mounted. */
function nameOf(mount: Map<string, string>): string[] {
  const path = ["target", "dst", "destination"].flatMap((option) => mount.get(option) ?? [])[0];
  const name = mount.get("id") ?? (path === undefined ? undefined : basename(path));
  return name === undefined ? [] : [name];
}
