// A setting that cannot be used, with its name and its origin.
export class SettingProblem extends Error {
  override name = "SettingProblem";
}
