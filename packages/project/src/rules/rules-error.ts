// An error in a rules file with its position. Thrown while parsing, reported with the file name.
export interface Location {
  /** From 1. */
  line: number;
  column: number;
}

export class RulesError extends Error {
  override name = "RulesError";
  readonly location: Location;

  constructor(location: Location, message: string) {
    super(message);
    this.location = location;
  }
}
