// Trouble with keys and their owners that whoever asked for them can mend.
export class PrincipalProblem extends Error {
  override name = "PrincipalProblem";
}
