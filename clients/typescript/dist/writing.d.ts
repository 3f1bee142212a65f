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
export declare class Writer {
    #private;
    /** Returns the text with another piece; undefined if an earlier one is missing: then the message has the rest. */
    add(piece: TextPiece): Writing | undefined;
}
