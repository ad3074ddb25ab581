// The sandbox that was asked for cannot be had. Nothing is run without it.
export class SandboxUnavailable extends Error {
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} ${remedy}`);
    this.name = "SandboxUnavailable";
    this.reason = reason;
    this.remedy = remedy;
  }
}
