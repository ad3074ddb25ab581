// How many lines were added and removed: with signs, and words for those who do not see colours.
export const LineCount = ({ added, removed }: { added: number; removed: number }) => (
  <span className="line-count numeric">
    {added > 0 && (
      <span className="count-added">
        <span className="sr-only">lines added: </span>+{added}
      </span>
    )}
    {removed > 0 && (
      <span className="count-removed">
        <span className="sr-only">lines removed: </span>−{removed}
      </span>
    )}
  </span>
);
