// How commands of an environment run in its machine: in which directory, as which user, and with which variables.

/** Agents see it, whatever the provider. */
export const workspaceDirectory = "/workspace";

/** The repository, or the directory that holds several. */
export function projectRoot(repositories: { name: string }[]): string {
  const [first, ...others] = repositories;
  return first && others.length === 0 ? `${workspaceDirectory}/${first.name}` : workspaceDirectory;
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** `image`: the variables that the image sets. */
export const machineVariables = (image: Record<string, string>): Record<string, string> => ({
  PATH: defaultPath,
  HOME: "/root",
  LANG: "C.UTF-8",
  CI: "1",
  DEBIAN_FRONTEND: "noninteractive",
  ...image,
});

/** The command line of a shell command, with bash where the machine has it. */
export function shellCommand(command: string, user: string): string[] {
  const shell = 'if [ -x /bin/bash ]; then exec /bin/bash -c "$0"; fi; exec /bin/sh -c "$0"';
  const plain = ["/bin/sh", "-c", shell, command];
  if (user === "root") return plain;
  const asUser =
    'id=$(id -u "$0") && gid=$(id -g "$0") && export HOME="$(getent passwd "$0" | cut -d: -f6)" USER="$0" && exec setpriv --reuid "$id" --regid "$gid" --init-groups -- "$@"';
  return ["/bin/sh", "-c", asUser, user, ...plain];
}

/** On the disk: what it was installed for last. */
export const installedMark = "/var/lib/platform/installed";

export const markInstalled = (contentKey: string): string[] => [
  ...["/bin/sh", "-c", 'mkdir -p "$(dirname "$0")" && echo "$1" > "$0"', installedMark, contentKey],
];
