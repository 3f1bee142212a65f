import type { Checkpoint } from './types.js';
/** What a person is asked to allow, in parts, so that the origin of all words is clear. */
export interface Asked {
    /** The parts of the question, in order. Joined, they are the checkpoint's message. */
    segments: Segment[];
    /** The fields of the input that the kind's schema names, in its order. */
    fields?: AskedField[];
    /** The length of the input as JSON. */
    bytes: number;
    /** The number of bytes of the input that the message leaves out because of its length. */
    omitted?: number;
}
/** A part of a question. */
export interface Segment {
    /** The author of these words: the kind's author, Ringback, the source of a value, or an asker who uses their own words. */
    from: 'kind' | 'ringback' | 'value' | 'asker';
    /** Plain text, never Markdown or HTML. */
    text: string;
}
/** A field of an input. */
export interface AskedField {
    name: string;
    /** The field's title in the schema. */
    title?: string;
}
/** Returns the question of a checkpoint in parts. A question without parts is in its asker's own words. */
export declare function asked(checkpoint: Pick<Checkpoint, 'message' | 'props'>): Asked;
