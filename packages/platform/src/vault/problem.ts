// Trouble with keys that whoever runs the server can mend.
export class VaultProblem extends Error {
  override name = "VaultProblem";
}
