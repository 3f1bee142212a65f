import type { TextPiece } from './types.js';

/** What Claude is writing: all of it so far. */
export interface Writing {
  /** The turn that writes, and which of its texts this is, from 1. */
  turn: number;
  block: number;
  text: string;
  /** It is Claude's thinking, not part of its answer: show it apart. */
  thinking?: boolean;
  simulated?: boolean;
}

/** Joins the pieces of what Claude writes. */
export class Writer {
  #last: TextPiece | undefined;
  #text = '';

  /** The text with another piece; undefined if one before it is missing: then the message has the rest. */
  add(piece: TextPiece): Writing | undefined {
    const last = this.#last;
    if (piece.whole) this.#text = piece.text;
    else if (last?.turn === piece.turn && last.block === piece.block && last.piece + 1 === piece.piece) this.#text += piece.text;
    else return undefined;
    this.#last = piece;
    const { turn, block, thinking, simulated } = piece;
    return { turn, block, text: this.#text, ...(thinking && { thinking }), ...(simulated && { simulated }) };
  }
}
