/** Git inside the sandbox cannot read the repository. */
export class ShadowUnavailable extends Error {
  override name = "ShadowUnavailable";
}
