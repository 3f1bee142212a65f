import type { Checkpoint } from './types.js';
/** What a person is asked to allow, in parts, so that nobody's words can be taken for those of somebody else. */
export interface Asked {
    /** The question, in order. Put together, they are the checkpoint's message. */
    segments: Segment[];
    /** The fields of the input that the kind's schema names, in its order. */
    fields?: AskedField[];
    /** How long the input is, as JSON. */
    bytes: number;
    /** How many bytes of the input the message leaves out for its length. */
    omitted?: number;
}
/** A part of a question. */
export interface Segment {
    /** Whose words these are: those of the kind's author, of Ringback, of whoever chose the value, or of whoever asks in their own words. */
    from: 'kind' | 'ringback' | 'value' | 'asker';
    /** What the part says: plain text, never Markdown or HTML. */
    text: string;
}
/** A field of an input. */
export interface AskedField {
    name: string;
    /** What the schema calls the field. */
    title?: string;
}
/** Returns what a checkpoint asks, in parts. A question without parts is one of its asker's, in their own words. */
export declare function asked(checkpoint: Pick<Checkpoint, 'message' | 'props'>): Asked;
