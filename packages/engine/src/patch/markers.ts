// The markers of the patch language, shared by the parser and the grammar.
export const marker = {
  begin: "*** Begin Patch",
  end: "*** End Patch",
  add: "*** Add File: ",
  delete: "*** Delete File: ",
  update: "*** Update File: ",
  move: "*** Move to: ",
  anchor: "@@",
  endOfFile: "*** End of File",
} as const;
