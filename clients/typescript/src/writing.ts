import type { TextPiece } from './types.js';

/** All of the text that Claude is writing, so far. */
export interface Writing {
  /** The turn that writes, and the number of the text in it, from 1. */
  turn: number;
  block: number;
  text: string;
  /** True for Claude's thinking, which is not part of its answer: show it separately. */
  thinking?: boolean;
  simulated?: boolean;
}

/** Joins the pieces of Claude's text. */
export class Writer {
  #last: TextPiece | undefined;
  #text = '';

  /** Returns the text with another piece; undefined if an earlier one is missing: then the message has the rest. */
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
