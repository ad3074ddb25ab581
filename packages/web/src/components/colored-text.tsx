// A piece of text of a terminal in its colour.
import type { Piece } from "../text/ansi.ts";

export const renderPiece = ({ text, style }: Piece, index: number) =>
  style === "" ? (
    text
  ) : (
    <span key={index} className={style}>
      {text}
    </span>
  );
