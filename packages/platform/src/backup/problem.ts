// Trouble with a backup that whoever looks after the platform can mend.
export class BackupProblem extends Error {
  override name = "BackupProblem";
}
