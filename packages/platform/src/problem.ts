// Trouble that whoever calls the program can mend.
export class UsageProblem extends Error {
  override name = "UsageProblem";
}
