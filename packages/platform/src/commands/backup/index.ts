// Commands about backups and the key-encryption key.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const backupCommands: Command[] = [
  {
    path: ["backup"],
    takes: "FILE",
    maxPositionals: 1,
    summary: "Write everything into one file; servers may keep running",
    flags: [...settingFlags, "passphrase-file"],
    load: () => import("./backup.ts"),
    notes: `With a passphrase the whole file is encrypted and contains the key-encryption key. Without one it does not: keep that key
elsewhere. Configuration is not included.`,
  },
  {
    path: ["restore"],
    takes: "FILE",
    maxPositionals: 1,
    summary: "Restore a backup into an empty data directory and database",
    flags: [...settingFlags, "passphrase-file"],
    load: () => import("./restore.ts"),
    notes: "The whole file is checked before anything is changed. Interrupted runs resume with the next serve.",
  },
  {
    path: ["rotate-kek"],
    takes: "",
    maxPositionals: 0,
    summary: "Wrap all data keys with a new key-encryption key",
    flags: settingFlags,
    notes: `A key file is replaced by a new one, and servers must be stopped. Where [kms] names a service, its newest version of the key
encrypts all data keys again while servers run; data keys that a key file wraps move to the service, with servers stopped.
If it is interrupted, run it again.`,
    load: () => import("./rotate-kek.ts"),
  },
];
