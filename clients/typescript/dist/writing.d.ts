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
export declare class Writer {
    #private;
    /** The text with another piece; undefined if one before it is missing: then the message has the rest. */
    add(piece: TextPiece): Writing | undefined;
}
