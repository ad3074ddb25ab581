// A tag of a page.
export interface Tag {
  /** Lower case; empty for comments and declarations. */
  name: string;
  isEnd: boolean;
  attributes: Map<string, string>;
  /** Where the text goes on. */
  end: number;
}
