// A configuration the user has to mend; the message says where and how.
export class ConfigProblem extends Error {
  override name = "ConfigProblem";
}
