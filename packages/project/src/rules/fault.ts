// A mistake in a rules file and where it is. Thrown while a file is read, turned into a problem where the file is named.
export interface Place {
  /** From 1. */
  line: number;
  column: number;
}

export class RulesFault extends Error {
  override name = "RulesFault";
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}
